export { type Gateway, type GatewayDependencies, gateway } from './app.ts'
export type { RateLimitStore } from './rate-limits.ts'
export { type GatewaySettings, gatewaySettings } from './settings.ts'
