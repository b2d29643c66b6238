export { freePort } from './free-port.ts'
export { PROGRAM_ENVIRONMENT } from './program-environment.ts'
export {
  administrator,
  type Host,
  type HostDependencies,
  type HostOptions,
  hostService,
} from './service-host.ts'
