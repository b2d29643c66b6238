import {
  MaxAppendSizeExceededError,
  StreamDeletedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import {
  AppendTooLarge,
  EventStoreUnavailable,
  type ExpectedRevision,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import { ForeignPosition } from './position.ts'

/** What the port says when the client has thrown: everything but a refusal means that the store is away. */
export function unavailable(error: unknown): Error {
  if (error instanceof EventStoreUnavailable) return error
  // Trying again is no use: somebody has to hear of it.
  if (error instanceof StreamDeletedError || error instanceof ForeignPosition) return error
  return new EventStoreUnavailable(error)
}

/** The same for an append. The client's errors differ between its two ways of appending in all but these fields. */
export function refusedAppend(error: unknown, stream: string, expected: ExpectedRevision): Error {
  if (error instanceof WrongExpectedVersionError) {
    const actual = error.actualVersion === 'no_stream' ? -1 : Number(error.actualVersion)
    return new WrongExpectedRevision(stream, expected, actual)
  }
  if (error instanceof MaxAppendSizeExceededError) return new AppendTooLarge(stream)
  return unavailable(error)
}

/** The server has decided: it is there, and its answer stands. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof WrongExpectedVersionError ||
  error instanceof MaxAppendSizeExceededError ||
  error instanceof StreamDeletedError
