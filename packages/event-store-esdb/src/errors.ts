import {
  AccessDeniedError,
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
import { EventStoreUrlRefused, hostsOf, userOf } from './connection.ts'
import { ForeignPosition } from './position.ts'

/** What was asked was not answered in time; it may happen all the same. */
export class NoAnswer extends Error {}

/** @throws NoAnswer when something takes longer */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new NoAnswer(`no answer within ${timeoutMs} ms`)), timeoutMs)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Codes of gRPC, which the client hands on. An append that is one of many in a call is denied without a code. */
const PERMISSION_DENIED = 7
const UNAUTHENTICATED = 16

/** What was attempted, and where. */
export interface Attempt {
  connectionString: string
  /** What the user of the connection string has to be allowed, as "to read $all". */
  right: string
}

/** That the user lacks a right, which is for an operator to change; undefined for any other failure. */
export function refusedAccess(error: unknown, { connectionString, right }: Attempt): Error | undefined {
  const { code } = (error ?? {}) as { code?: unknown }
  const isDenied = error instanceof AccessDeniedError || code === PERMISSION_DENIED
  if (!isDenied && code !== UNAUTHENTICATED) return undefined
  const user = userOf(connectionString)
  const names = user ? `names the user ${user}` : 'names no user'
  const server = `EventStoreDB at ${hostsOf(connectionString)}`
  if (code === UNAUTHENTICATED) {
    const which = user ? 'whose name or password is' : 'which is'
    return new EventStoreUrlRefused(`${names}, ${which} not accepted by ${server} (UNAUTHENTICATED)`)
  }
  return new EventStoreUrlRefused(`${names}, which has no right ${right} of ${server} (PERMISSION_DENIED)`)
}

/** What the port says when the client has thrown: everything but a refusal means that the store is away. */
export const unavailable =
  (attempt: Attempt) =>
  (error: unknown): Error => {
    if (error instanceof EventStoreUnavailable) return error
    // Trying again is no use: an operator has to hear of it.
    if (error instanceof StreamDeletedError || error instanceof ForeignPosition) return error
    return refusedAccess(error, attempt) ?? new EventStoreUnavailable(error)
  }

/** The same for an append. The client's errors differ between its two ways of appending in all but these fields. */
export const refusedAppend =
  (attempt: Attempt & { stream: string; expected: ExpectedRevision }) =>
  (error: unknown): Error => {
    const { stream, expected } = attempt
    if (error instanceof WrongExpectedVersionError) {
      const actual = error.actualVersion === 'no_stream' ? -1 : Number(error.actualVersion)
      return new WrongExpectedRevision(stream, expected, actual)
    }
    if (error instanceof MaxAppendSizeExceededError) return new AppendTooLarge(stream)
    return unavailable(attempt)(error)
  }

/** The server has decided: it is there, and its answer stands. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof WrongExpectedVersionError ||
  error instanceof MaxAppendSizeExceededError ||
  error instanceof StreamDeletedError
