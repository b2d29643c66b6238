import {
  ErrorCode,
  type JetStreamManager,
  type NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats'
import { isJetStreamError } from './errors.ts'
import { NatsRefused, type StreamOptions } from './settings.ts'

/** JetStream detects the repetition of a message by its id within this time. */
const DUPLICATE_WINDOW_MS = 120_000

export const STREAM = 'GANTRY'
const SUBJECTS = ['events.>', 'platform.events', 'deployments.reported']

export const STREAM_NOT_FOUND = 10059
const STREAM_EXISTS = 10058
/** No suitable servers, not enough resources, no cluster (nats-server, server/errors.json). */
const NO_ROOM = [10005, 10023, 10074]

/** `created` is the time at which the server created the stream, which distinguishes it from a later one of the same name. */
type Stream = Pick<StreamInfo, 'config' | 'created'>

/**
 * Creates the stream, or adds what it lacks. Properties that are not in the options stay as the operator has set them.
 * Subjects that a newer version added stay too, whichever version starts last. Number of replicas and retention are applied
 * once by each process: `configured` is the creation time of the stream to which this one has applied them. So, while
 * processes with different settings run, those of the process that started last are in force, whichever reconnects.
 * @throws NatsRefused when messages are removed earlier than a setting requires, or for too many replicas
 */
export async function ensureStream(
  jsm: JetStreamManager,
  options: StreamOptions,
  configured?: string,
): Promise<Stream> {
  const { name: stream = STREAM, subjects = SUBJECTS, replicas, retentionMs, needed } = options
  const duplicate_window = nanos(Math.min(DUPLICATE_WINDOW_MS, retentionMs ?? DUPLICATE_WINDOW_MS))
  const chosen = {
    ...(replicas !== undefined && { num_replicas: replicas }),
    // The server refuses a window that is longer than the retention.
    ...(retentionMs !== undefined && { max_age: nanos(retentionMs), duplicate_window }),
  }
  const existing = await streamOf(jsm, stream)
  if (!existing) {
    const made = await make(jsm, {
      name: stream,
      subjects: [...subjects],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      duplicate_window,
      ...chosen,
    })
    return made ?? ensureStream(jsm, options)
  }
  const { config: current, created } = existing
  const wanted: StreamConfig = {
    ...current,
    ...(created !== configured && chosen),
    subjects: [...new Set([...current.subjects, ...subjects])],
  }
  requireNeeded(stream, wanted, needed)
  // A single server accepts an update to several replicas without keeping them.
  if (replicas !== undefined && replicas > 1 && !existing.cluster?.name)
    throw refused(replicas, 'the server is not in a cluster')
  const same =
    wanted.subjects.length === current.subjects.length &&
    wanted.num_replicas === current.num_replicas &&
    wanted.max_age === current.max_age
  if (!same) await update(jsm, wanted)
  return { config: wanted, created }
}

/** @returns undefined when another process has created it meanwhile, with other options */
async function make(
  jsm: JetStreamManager,
  config: Parameters<JetStreamManager['streams']['add']>[0],
): Promise<StreamInfo | undefined> {
  try {
    return await change(config.num_replicas ?? 1, jsm.streams.add(config))
  } catch (error) {
    if (isJetStreamError(error, STREAM_EXISTS)) return undefined
    throw error
  }
}

/** @throws NatsRefused when the servers cannot keep that many replicas */
async function change(replicas: number, changing: Promise<StreamInfo>): Promise<StreamInfo> {
  try {
    return await changing
  } catch (error) {
    if (replicas === 1 || !NO_ROOM.some(code => isJetStreamError(error, code))) throw error
    throw refused(replicas, (error as Error).message)
  }
}

/** @throws NatsRefused when the servers cannot keep that many replicas */
async function update(jsm: JetStreamManager, wanted: StreamConfig): Promise<void> {
  try {
    await change(wanted.num_replicas, jsm.streams.update(wanted.name, wanted))
  } catch (error) {
    if ((error as NatsError).code !== ErrorCode.Timeout) throw error
    // A cluster does not answer a change that another process is making, nor one while a server is away.
    const { config } = await jsm.streams.info(wanted.name)
    if (config.num_replicas !== wanted.num_replicas)
      throw refused(wanted.num_replicas, 'they do not confirm it; are all of them running?')
  }
}

const refused = (replicas: number, reason: string) =>
  new NatsRefused(`MESSAGING_REPLICAS: the servers cannot keep ${replicas} replicas of the stream: ${reason}`)

function requireNeeded(stream: string, { max_age }: StreamConfig, needed: StreamOptions['needed']): void {
  if (!needed || max_age === 0 || max_age >= nanos(needed.ms)) return
  const seconds = (ms: number) => `${ms / 1_000}s`
  throw new NatsRefused(
    `the stream ${stream} keeps messages for ${seconds(max_age / nanos(1))}, which is shorter than ${needed.setting} ` +
      `(${seconds(needed.ms)}): set MESSAGE_RETENTION, or the max-age of the stream, to that at least`,
  )
}

async function streamOf(jsm: JetStreamManager, stream: string): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.info(stream)
  } catch (error) {
    if (isJetStreamError(error, STREAM_NOT_FOUND)) return undefined
    throw error
  }
}
