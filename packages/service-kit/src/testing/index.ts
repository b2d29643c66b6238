export { freePort } from './free-port.ts'
export { expectWaitOnRestoredLog } from './restored-log.ts'
export {
  administrator,
  type Host,
  type HostDependencies,
  type HostOptions,
  hostService,
} from './service-host.ts'
