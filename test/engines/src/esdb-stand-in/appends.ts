import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import names from '@eventstore/db-client/generated/shared_pb.js'
import rpc from '@eventstore/db-client/generated/status_pb.js'
import protocol from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerDuplexStream, ServerReadableStream, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'
import type { Message } from 'google-protobuf'
import any from 'google-protobuf/google/protobuf/any_pb.js'
import empty from 'google-protobuf/google/protobuf/empty_pb.js'
import type { Access } from './access.ts'
import {
  type Expected,
  type Log,
  type Proposal,
  placeOf,
  StreamDeleted,
  WrongExpectedVersion,
} from './log.ts'
import {
  AccessDenied,
  AppendTooLarge,
  commitOf,
  identifierOf,
  idOf,
  MAX_APPEND_SIZE,
  nameOf,
  serviceError,
  TimedOut,
} from './wire.ts'

type ProposedMessage = protocol.AppendReq.ProposedMessage | protocol.BatchAppendReq.ProposedMessage
type Stored = { revision: number; commit: string }

const proposalOf = (message: ProposedMessage): Proposal => ({
  id: idOf(message.getId()),
  type: message.getMetadataMap().get('type') ?? '',
  isJson: message.getMetadataMap().get('content-type') === 'application/json',
  data: Buffer.from(message.getData_asU8()),
  metadata: Buffer.from(message.getCustomMetadata_asU8()),
})

const sizeOf = ({ type, data, metadata }: Proposal) => type.length * 2 + data.length + metadata.length

/** The common part of all messages with an expected revision. */
interface Expecting {
  hasAny(): boolean
  hasNoStream(): boolean
  hasStreamExists(): boolean
}
const expectedOf = (options: Expecting, revision: string): Expected => {
  if (options.hasAny()) return 'any'
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasStreamExists()) return 'stream_exists'
  return Number(revision)
}

/** How long a repeated append waits for the first one before it times out. */
const REPETITION_MS = 2_000

/**
 * An append that is repeated while the first one is under way is stored once. 23.10.6 and 25.0.0 answer the repetition
 * with a timeout in most tries; the stand-in always does.
 */
async function append(log: Log, stream: string, proposals: Proposal[], expected: Expected): Promise<Stored> {
  const attempt = JSON.stringify([stream, expected, ...proposals.map(({ id }) => id)])
  const repeated = proposals.length > 0 && log.underWay.has(attempt)
  if (!repeated) log.underWay.add(attempt)
  try {
    await log.arrived(stream)
    // Messages that were sent with the append arrive before it is stored.
    await setImmediate()
    if (repeated) {
      await setTimeout(REPETITION_MS)
      throw new TimedOut()
    }
    const appended = await log.append(stream, proposals, expected)
    // An append without events is answered with a position that no event has.
    const commit = commitOf(placeOf(appended)) + (proposals.length === 0 ? 1n : 0n)
    return { revision: appended.revision, commit: commit.toString() }
  } finally {
    if (!repeated) log.underWay.delete(attempt)
  }
}

/** Handles one append per call. */
export async function appendInCall(
  log: Log,
  access: Access,
  call: ServerReadableStream<protocol.AppendReq, protocol.AppendResp>,
  reply: sendUnaryData<protocol.AppendResp>,
): Promise<void> {
  let options: protocol.AppendReq.Options | undefined
  const proposals: Proposal[] = []
  let size = 0
  try {
    for await (const request of call as AsyncIterable<protocol.AppendReq>) {
      options ??= request.getOptions()
      const message = request.getProposedMessage()
      if (!message) continue
      const proposal = proposalOf(message)
      size += sizeOf(proposal)
      if (size > MAX_APPEND_SIZE) throw new AppendTooLarge()
      proposals.push(proposal)
    }
    // The append of a caller that has cancelled is not stored.
    await setImmediate()
    if (call.cancelled || !options) return
    const expected = expectedOf(options, options.getRevision())
    await access.check(call.metadata, log, nameOf(options.getStreamIdentifier()), '$w')
    reply(null, await succeeded(options, proposals, expected))
  } catch (error) {
    if (!(error instanceof WrongExpectedVersion)) return reply(serviceError(error))
    reply(null, new protocol.AppendResp().setWrongExpectedVersion(refusal(error)))
  }

  async function succeeded(to: protocol.AppendReq.Options, events: Proposal[], expected: Expected) {
    const { revision, commit } = await append(log, nameOf(to.getStreamIdentifier()), events, expected)
    const success = new protocol.AppendResp.Success().setPosition(
      new protocol.AppendResp.Position().setCommitPosition(commit).setPreparePosition(commit),
    )
    if (revision < 0) success.setNoStream(new names.Empty())
    else success.setCurrentRevision(String(revision))
    return new protocol.AppendResp().setSuccess(success)
  }
}

function refusal({ expected, actual }: WrongExpectedVersion) {
  const wrong = new protocol.AppendResp.WrongExpectedVersion()
  if (actual < 0) wrong.setCurrentNoStream(new names.Empty())
  else wrong.setCurrentRevision(String(actual))
  if (expected === 'any') wrong.setExpectedAny(new names.Empty())
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new names.Empty())
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new names.Empty())
  else wrong.setExpectedRevision(String(expected))
  return wrong
}

interface Pending {
  options: protocol.BatchAppendReq.Options
  proposals: Proposal[]
  size: number
}

/** Handles any number of appends in one call. Each is answered with its correlation id. */
export function appendInBatches(
  log: Log,
  access: Access,
  call: ServerDuplexStream<protocol.BatchAppendReq, protocol.BatchAppendResp>,
  now: () => Date,
): void {
  const pending = new Map<string, Pending>()
  let answering = 0
  let ended = false
  const endIfDone = () => {
    if (ended && answering === 0) call.end()
  }

  const answer = async (request: protocol.BatchAppendReq, { options, proposals, size }: Pending) => {
    const stream = nameOf(options.getStreamIdentifier())
    const response = new protocol.BatchAppendResp()
      .setCorrelationId(request.getCorrelationId())
      .setStreamIdentifier(identifierOf(stream))
    answering++
    try {
      if (size > MAX_APPEND_SIZE) throw new AppendTooLarge()
      const deadline = options.getDeadline()?.toDate()
      if (deadline && deadline <= now()) throw new TimedOut()
      const expected = expectedOf(options, options.getStreamPosition())
      await access.check(call.metadata, log, stream, '$w')
      const { revision, commit } = await append(log, stream, proposals, expected)
      const success = new protocol.BatchAppendResp.Success().setPosition(
        new names.AllStreamPosition().setCommitPosition(commit).setPreparePosition(commit),
      )
      if (revision < 0) success.setNoStream(new empty.Empty())
      else success.setCurrentRevision(String(revision))
      response.setSuccess(success)
    } catch (error) {
      response.setError(statusOf(error))
    }
    answering--
    if (!call.cancelled && !call.destroyed) call.write(response)
    endIfDone()
  }

  call.on('data', (request: protocol.BatchAppendReq) => {
    const id = idOf(request.getCorrelationId())
    const options = request.getOptions()
    if (options && !pending.has(id)) pending.set(id, { options, proposals: [], size: 0 })
    const append = pending.get(id)
    if (!append) return
    for (const message of request.getProposedMessagesList()) {
      const proposal = proposalOf(message)
      append.size += sizeOf(proposal)
      append.proposals.push(proposal)
    }
    if (!request.getIsFinal() && append.size <= MAX_APPEND_SIZE) return
    pending.delete(id)
    void answer(request, append)
  })
  call.on('error', () => {})
  call.on('end', () => {
    ended = true
    endIfDone()
  })
}

/** An error as the response to one append of a batch call: it has no code, and its message is only a name. */
function statusOf(error: unknown): rpc.Status {
  if (error instanceof StreamDeleted) {
    const deleted = new names.StreamDeleted().setStreamIdentifier(identifierOf(error.stream))
    return details('StreamDeleted', deleted)
  }
  if (error instanceof AppendTooLarge) {
    const exceeded = new names.MaximumAppendSizeExceeded().setMaxappendsize(MAX_APPEND_SIZE)
    return details('MaximumAppendSizeExceeded', exceeded)
  }
  if (error instanceof AccessDenied) return details('AccessDenied', new names.AccessDenied())
  if (error instanceof TimedOut) return details('Timeout', new names.Timeout())
  if (!(error instanceof WrongExpectedVersion)) return details('Unknown', new names.Unknown())
  const wrong = new names.WrongExpectedVersion()
  if (error.actual < 0) wrong.setCurrentNoStream(new empty.Empty())
  else wrong.setCurrentStreamRevision(String(error.actual))
  if (error.expected === 'any') wrong.setExpectedAny(new empty.Empty())
  else if (error.expected === 'no_stream') wrong.setExpectedNoStream(new empty.Empty())
  else if (error.expected === 'stream_exists') wrong.setExpectedStreamExists(new empty.Empty())
  else wrong.setExpectedStreamPosition(String(error.expected))
  return details('WrongExpectedVersion', wrong)
}

function details(name: string, message: Message): rpc.Status {
  const packed = new any.Any()
  packed.pack(message.serializeBinary(), `event_store.client.${name}`)
  return new rpc.Status().setMessage(name).setDetails(packed)
}

/** Hides the events of a stream. */
export async function deleteSoftly(
  log: Log,
  access: Access,
  call: ServerUnaryCall<protocol.DeleteReq, protocol.DeleteResp>,
  reply: sendUnaryData<protocol.DeleteResp>,
): Promise<void> {
  const options = call.request.getOptions()
  if (!options) return
  try {
    const expected = expectedOf(options, options.getRevision())
    const stream = nameOf(options.getStreamIdentifier())
    await access.check(call.metadata, log, stream, '$d')
    const commit = commitOf(placeOf(await log.softDelete(stream, expected, randomUUID()))).toString()
    const position = new protocol.DeleteResp.Position().setCommitPosition(commit).setPreparePosition(commit)
    reply(null, new protocol.DeleteResp().setPosition(position))
  } catch (error) {
    reply(serviceError(error))
  }
}

/** Deletes a stream permanently. */
export async function deleteForEver(
  log: Log,
  access: Access,
  call: ServerUnaryCall<protocol.TombstoneReq, protocol.TombstoneResp>,
  reply: sendUnaryData<protocol.TombstoneResp>,
): Promise<void> {
  const options = call.request.getOptions()
  if (!options) return
  try {
    const expected = expectedOf(options, options.getRevision())
    const stream = nameOf(options.getStreamIdentifier())
    await access.check(call.metadata, log, stream, '$d')
    const commit = commitOf(placeOf(await log.tombstone(stream, expected, randomUUID()))).toString()
    const position = new protocol.TombstoneResp.Position()
      .setCommitPosition(commit)
      .setPreparePosition(commit)
    reply(null, new protocol.TombstoneResp().setPosition(position))
  } catch (error) {
    reply(serviceError(error))
  }
}
