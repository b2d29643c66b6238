export {
  ADMINISTRATOR,
  runServiceProcess,
  type ServiceProcess,
  startServiceProcess,
} from './service-process.ts'
