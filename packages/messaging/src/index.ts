export {
  type Bus,
  BusUnavailable,
  type Json,
  type Message,
  type MissedMessages,
  Overtaken,
  type ReadOptions,
  type StoredMessage,
  type Subjects,
  subjectMatches,
} from './bus.ts'
export { firstAfter, placeBefore } from './place.ts'
