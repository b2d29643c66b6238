export {
  ADMINISTRATOR,
  freePort,
  runServiceProcess,
  type ServiceProcess,
  startServiceProcess,
} from './service-process.ts'
