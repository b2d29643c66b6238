export { freePort, PROGRAM_ENVIRONMENT } from './program.ts'
export {
  administrator,
  type Host,
  type HostDependencies,
  type HostOptions,
  hostService,
} from './service-host.ts'
