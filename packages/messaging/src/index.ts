export { Backoff } from './backoff.ts'
export {
  type Bus,
  BusUnavailable,
  type Delivered,
  type Json,
  type Message,
  type MissedMessages,
  NoResponder,
  Overtaken,
  RequestFailed,
  RequestTimeout,
  type StoredMessage,
  type Subjects,
  subjectMatches,
} from './bus.ts'
export { failureOf } from './failure.ts'
export { sleep } from './sleep.ts'
