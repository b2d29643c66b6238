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
export { isReply, type Reply, replyOf, resultOf } from './reply.ts'
export { sleep } from './sleep.ts'
