export {
  ADMINISTRATOR,
  runCommand,
  runServiceProcess,
  type ServiceProcess,
  startServiceProcess,
} from './service-process.ts'
