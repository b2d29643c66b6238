export {
  type Bus,
  BusUnavailable,
  type Headers,
  type Json,
  type Message,
  type MissedMessages,
  NoResponder,
  Overtaken,
  type ReadOptions,
  RequestFailed,
  type RequestOptions,
  RequestTimeout,
  type Responder,
  type StoredMessage,
  type Subjects,
  subjectMatches,
} from './bus.ts'
export { firstAfter, sequenceBefore } from './place.ts'
export { isReply, type Reply, replyOf, resultOf } from './reply.ts'
