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

/** The server did not answer in time. The request may be carried out nevertheless. */
export class NoResponse extends Error {}

/** @throws NoResponse when something takes longer */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new NoResponse(`no answer within ${timeoutMs} ms`)), timeoutMs)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** gRPC status codes that the client passes on. A denied append of a batch has no code. */
const PERMISSION_DENIED = 7
const UNAUTHENTICATED = 16

/** The request, for messages. */
export interface Attempt {
  connectionString: string
  /** The right that the user of the connection string needs, e.g. "to read $all". */
  right: string
}

/** An error that names the missing right, for the operator; undefined for any other failure. */
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

/** Translates an error of the client: everything except a refusal means that the store is unavailable. */
export const unavailable =
  (attempt: Attempt) =>
  (error: unknown): Error => {
    if (error instanceof EventStoreUnavailable) return error
    // Trying again does not help: the error must reach the operator.
    if (error instanceof StreamDeletedError || error instanceof ForeignPosition) return error
    return refusedAccess(error, attempt) ?? new EventStoreUnavailable(error)
  }

/** Translates an error of an append. The client's two ways of appending only agree in these fields of their errors. */
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

/** Whether the server has responded and its response is final. */
export const isFinal = (error: unknown): boolean =>
  error instanceof WrongExpectedVersionError ||
  error instanceof MaxAppendSizeExceededError ||
  error instanceof StreamDeletedError
