export { administrator, type Host, type HostOptions, hostService } from './service-host.ts'
