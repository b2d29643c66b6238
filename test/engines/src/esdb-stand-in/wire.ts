import names from '@eventstore/db-client/generated/shared_pb.js'
import protocol from '@eventstore/db-client/generated/streams_pb.js'
import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { type Expected, type Logged, StreamDeleted, TOMBSTONE, WrongExpectedVersion } from './log.ts'

/** A position in the log as the client knows it. */
export interface LogPosition {
  commit: bigint
  prepare: bigint
}

export const MAX_APPEND_SIZE = 1_048_576
/** Distance of positions. The real log counts bytes, so positions are not consecutive. */
const STEP = 128n
/** The revision of a tombstone. */
const LAST_REVISION = 9_223_372_036_854_775_807n
const TICKS_PER_MS = 10_000n

export const commitOf = (place: number): bigint => BigInt(place) * STEP
export const positionOf = (place: number): LogPosition => ({
  commit: commitOf(place),
  prepare: commitOf(place),
})
/** Sequence number of the first event at or after a position. */
export const placeFrom = (commit: bigint): number => Number((commit + STEP - 1n) / STEP)

export class AppendTooLarge extends Error {}
export class TimedOut extends Error {}
export class AccessDenied extends Error {}
export class NotReady extends Error {}
export class NotLeader extends Error {
  readonly host: string
  readonly port: number
  constructor(host: string, port: number) {
    super(`the leader is ${host}:${port}`)
    this.host = host
    this.port = port
  }
}

export const identifierOf = (stream: string) => {
  const identifier = new names.StreamIdentifier()
  identifier.setStreamName(Buffer.from(stream, 'utf8'))
  return identifier
}
export const nameOf = (identifier: names.StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8')

export function idOf(uuid: names.UUID | undefined): string {
  const structured = uuid?.getStructured()
  if (!structured) return uuid?.getString() ?? ''
  const bits = [structured.getMostSignificantBits(), structured.getLeastSignificantBits()]
  const hex = bits.map(half => BigInt.asUintN(64, BigInt(half)).toString(16).padStart(16, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export function eventMessage(logged: Logged): protocol.ReadResp {
  const recorded = new protocol.ReadResp.ReadEvent.RecordedEvent()
  const id = new names.UUID()
  id.setString(logged.id)
  const commit = commitOf(logged.place).toString()
  recorded.setId(id)
  recorded.setStreamIdentifier(identifierOf(logged.stream))
  recorded.setStreamRevision((logged.type === TOMBSTONE ? LAST_REVISION : logged.revision).toString())
  recorded.setCommitPosition(commit)
  recorded.setPreparePosition(commit)
  recorded.setData(logged.data)
  recorded.setCustomMetadata(logged.metadata)
  recorded
    .getMetadataMap()
    .set('type', logged.type)
    .set('content-type', logged.isJson ? 'application/json' : 'application/octet-stream')
    .set('created', (BigInt(logged.created.getTime()) * TICKS_PER_MS).toString())
  const event = new protocol.ReadResp.ReadEvent()
  event.setEvent(recorded)
  event.setCommitPosition(commit)
  return new protocol.ReadResp().setEvent(event)
}

export const confirmationMessage = (subscription: string) =>
  new protocol.ReadResp().setConfirmation(
    new protocol.ReadResp.SubscriptionConfirmation().setSubscriptionId(subscription),
  )

export const checkpointMessage = ({ commit, prepare }: LogPosition) =>
  new protocol.ReadResp().setCheckpoint(
    new protocol.ReadResp.Checkpoint()
      .setCommitPosition(commit.toString())
      .setPreparePosition(prepare.toString()),
  )

export const caughtUpMessage = () => new protocol.ReadResp().setCaughtUp(new protocol.ReadResp.CaughtUp())

export const notFoundMessage = (stream: string) =>
  new protocol.ReadResp().setStreamNotFound(
    new protocol.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
  )

/** An error as the response to a call. */
export function serviceError(error: unknown): Pick<ServiceError, 'code' | 'details' | 'metadata'> {
  if (error instanceof StreamDeleted) {
    return failure(status.FAILED_PRECONDITION, error.message, {
      exception: 'stream-deleted',
      'stream-name': error.stream,
    })
  }
  if (error instanceof AppendTooLarge) {
    return failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${MAX_APPEND_SIZE} Exceeded.`, {
      exception: 'maximum-append-size-exceeded',
      'maximum-append-size': String(MAX_APPEND_SIZE),
    })
  }
  if (error instanceof WrongExpectedVersion) {
    return failure(status.FAILED_PRECONDITION, `Append failed due to WrongExpectedVersion.`, {
      exception: 'wrong-expected-version',
      'stream-name': error.stream,
      'expected-version': String(numberOf(error.expected)),
      ...(error.actual < 0 ? {} : { 'actual-version': String(error.actual) }),
    })
  }
  if (error instanceof AccessDenied) {
    return failure(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })
  }
  if (error instanceof NotReady) return failure(status.UNAVAILABLE, 'Server Is Not Ready', {})
  if (error instanceof NotLeader) {
    return failure(status.NOT_FOUND, 'Leader info available', {
      exception: 'not-leader',
      'leader-endpoint-host': error.host,
      'leader-endpoint-port': String(error.port),
    })
  }
  if (error instanceof TimedOut) return failure(status.DEADLINE_EXCEEDED, '', {})
  return failure(status.UNKNOWN, error instanceof Error ? error.message : String(error), {})
}

function failure(code: status, details: string, fields: Record<string, string>) {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(fields)) metadata.set(name, encodeURI(value))
  return { code, details, metadata }
}

/** Numbers of the server for expectations other than a revision. */
const numberOf = (expected: Expected) =>
  typeof expected === 'number' ? expected : { no_stream: -1, any: -2, stream_exists: -4 }[expected]
