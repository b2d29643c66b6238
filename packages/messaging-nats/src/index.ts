export { checkBus } from './connection.ts'
export { natsBus } from './nats-bus.ts'
export { natsPublisher, type Publisher } from './publisher.ts'
export { type NatsOptions, NatsRefused, type StreamOptions } from './settings.ts'
