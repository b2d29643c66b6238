export { type Gateway, type GatewayDependencies, gateway } from './app.ts'
export { type ForwardingOptions, forwarding, type Upstream } from './forwarding.ts'
export { type RateCounts, rateCounts } from './rates/rate-counts.ts'
export {
  type GatewaySettings,
  gatewayProcessSettings,
  gatewaySettings,
  metricsServer,
  principalKey,
  serverOptions,
} from './settings.ts'
export { systemFrom, systemOf, systemRoute } from './system.ts'
