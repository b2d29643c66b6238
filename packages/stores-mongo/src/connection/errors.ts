import {
  MongoAPIError,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb'

const NETWORK_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; is a MongoDB server running there?',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the host is unreachable',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
}

/** Errors of the driver's API about a connection that was closed meanwhile, e.g. to a member that left the replica set. */
const CLOSED_MEANWHILE = [
  MongoClientClosedError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoTopologyClosedError,
]

/** Server error codes (error_codes.yml) for a document that is too large: on insert, after an update, as an upsert. */
const TOO_LARGE = new Set<unknown>([10_334, 17_419, 17_420])

/** Whether the request is invalid, so that it fails again when it is repeated. */
export function isOfRequest(error: unknown): error is MongoError {
  if (error instanceof MongoBulkWriteError)
    return [error.writeErrors].flat().some(({ code }) => TOO_LARGE.has(code))
  if (error instanceof MongoServerError) return TOO_LARGE.has(error.code)
  return error instanceof MongoAPIError && !CLOSED_MEANWHILE.some(kind => error instanceof kind)
}

/** Whether the server is the cause. The driver passes some socket errors on unchanged. */
export const isOfServer = (error: unknown): error is Error =>
  (error instanceof MongoError && !isOfRequest(error)) || codeOf(error) in NETWORK_WORDS

/** Texts by server error code (error_codes.yml). */
const SERVER_WORDS: Readonly<Record<number, string>> = {
  13: 'the user lacks permission to read and write the database',
  18: 'the server rejects the user or the password',
}

/** The reason why the server could not be used, as text for operators. */
export function mongoFailureOf(error: unknown): string {
  const failure = underlyingError(error)
  if (!(failure instanceof Error)) return String(failure)
  if (failure instanceof MongoServerSelectionError) return selectionFailureOf(failure)
  if (failure instanceof MongoWriteConcernError)
    return 'a majority of the replica set does not confirm writes'
  if (failure instanceof MongoServerError)
    return SERVER_WORDS[Number(failure.code)] ?? `the server answered: ${failure.message}`
  return NETWORK_WORDS[codeOf(failure)] ?? failure.message
}

/** The error of a server that was tried, instead of the error that none could be selected. */
export function underlyingError(error: unknown): unknown {
  if (!(error instanceof MongoServerSelectionError)) return error
  const failed = [...(error.reason?.servers.values() ?? [])].find(server => server.error)
  return failed?.error ?? error
}

function selectionFailureOf({ reason, message }: MongoServerSelectionError): string {
  const servers = [...(reason?.servers.values() ?? [])]
  if (servers.some(({ type }) => type !== 'Unknown'))
    return 'the replica set has no primary; is it initiated, and is a majority of it up?'
  return servers.length > 0 ? 'the server does not answer' : message
}

/** The system error code of an error or of its cause; empty when there is none. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause)
}
