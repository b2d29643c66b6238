export { gateway } from './app.ts'
export { forwarding } from './forwarding.ts'
export { rateCounts } from './rates/rate-counts.ts'
export {
  gatewayProcessSettings,
  gatewaySettings,
  metricsServer,
  principalKey,
  serverOptions,
} from './settings.ts'
export { systemFrom, systemOf, systemRoute } from './system.ts'
