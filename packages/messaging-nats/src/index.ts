export { checkBus } from './connection.ts'
export { natsBus } from './nats-bus.ts'
export { type NatsOptions, NatsRefused } from './settings.ts'
