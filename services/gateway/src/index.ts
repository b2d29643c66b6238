export { type Gateway, type GatewayDependencies, gateway } from './app.ts'
export { type GatewaySettings, gatewaySettings } from './settings.ts'
