export { freePort } from './free-port.ts'
export { administrator, type Host, type HostOptions, hostService } from './service-host.ts'
