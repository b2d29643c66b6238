export type { Engine, Found, StartOptions } from './engine.ts'
export { findMongo } from './find-mongo.ts'
export { findNats } from './find-nats.ts'
export { freePort } from './free-port.ts'
