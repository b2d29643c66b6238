export { freePort } from './free-port.ts'
export { openOnRestoredLog } from './restored-log.ts'
export { administrator, type Host, type HostOptions, hostService } from './service-host.ts'
