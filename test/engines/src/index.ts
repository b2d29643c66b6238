export { type Certificates, makeCertificates } from './certificates.ts'
export type { Engine, Found, StartOptions } from './engine.ts'
export { findEventStore, HOW_TO_HAVE_EVENT_STORE } from './find-event-store.ts'
export { findMongo } from './find-mongo.ts'
export { findNats, lacksSyncInterval } from './find-nats.ts'
export {
  findOtelCollector,
  HOW_TO_HAVE_OTEL_COLLECTOR,
  type ReceivedSpan,
  startSpanReceiver,
} from './find-otel-collector.ts'
export { findPromtool, HOW_TO_HAVE_PROMTOOL } from './find-promtool.ts'
export { findS3, S3_CREDENTIALS } from './find-s3.ts'
export { goModule, goProgram } from './go-program.ts'
export { CACHE, isThere, onPath, run } from './program.ts'
