export { type Gateway, type GatewayDependencies, gateway } from './app.ts'
export { type ForwardingOptions, forwarding, type Upstream } from './forwarding.ts'
export { type GatewaySettings, gatewaySettings, serverOptions, upstreamSettings } from './settings.ts'
export { type SharedCounts, sharedCounts } from './shared-counts.ts'
