import { type JetStreamManager, nanos, RetentionPolicy, StorageType, type StreamConfig } from 'nats'
import { isJetStreamError } from './errors.ts'
import { NatsRefused, type StreamOptions } from './settings.ts'

/** JetStream detects the repetition of a message by its id within this time. */
const DUPLICATE_WINDOW_MS = 120_000

const STREAM = 'GANTRY'
const SUBJECTS = ['events.>', 'platform.events', 'deployments.reported']

const STREAM_NOT_FOUND = 10059
const STREAM_EXISTS = 10058

/**
 * Creates the stream, or adds what it lacks. Properties that are not in the options stay as the operator has set them.
 * Subjects that a newer version added stay too, whichever version starts last.
 * @returns the resulting configuration
 * @throws NatsRefused when messages are removed earlier than a setting requires
 */
export async function ensureStream(jsm: JetStreamManager, options: StreamOptions): Promise<StreamConfig> {
  const { name: stream = STREAM, subjects = SUBJECTS, replicas, retentionMs, needed } = options
  const duplicate_window = nanos(Math.min(DUPLICATE_WINDOW_MS, retentionMs ?? DUPLICATE_WINDOW_MS))
  const chosen = {
    ...(replicas !== undefined && { num_replicas: replicas }),
    // The server refuses a window that is longer than the retention.
    ...(retentionMs !== undefined && { max_age: nanos(retentionMs), duplicate_window }),
  }
  const current = await configOf(jsm, stream)
  if (!current) {
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
  requireNeeded(stream, { ...current, ...chosen }, needed)
  const wanted: StreamConfig = {
    ...current,
    ...chosen,
    subjects: [...new Set([...current.subjects, ...subjects])],
  }
  const same =
    wanted.subjects.length === current.subjects.length &&
    wanted.num_replicas === current.num_replicas &&
    wanted.max_age === current.max_age
  if (!same) await jsm.streams.update(stream, wanted)
  return wanted
}

/** @returns undefined when another process has created it meanwhile, with other options */
async function make(
  jsm: JetStreamManager,
  config: Parameters<JetStreamManager['streams']['add']>[0],
): Promise<StreamConfig | undefined> {
  try {
    return (await jsm.streams.add(config)).config
  } catch (error) {
    if (isJetStreamError(error, STREAM_EXISTS)) return undefined
    throw error
  }
}

function requireNeeded(stream: string, { max_age }: StreamConfig, needed: StreamOptions['needed']): void {
  if (!needed || max_age === 0 || max_age >= nanos(needed.ms)) return
  const seconds = (ms: number) => `${ms / 1_000}s`
  throw new NatsRefused(
    `the stream ${stream} keeps messages for ${seconds(max_age / nanos(1))}, which is shorter than ${needed.setting} ` +
      `(${seconds(needed.ms)}): set MESSAGE_RETENTION, or the max-age of the stream, to that at least`,
  )
}

async function configOf(jsm: JetStreamManager, stream: string): Promise<StreamConfig | undefined> {
  try {
    return (await jsm.streams.info(stream)).config
  } catch (error) {
    if (isJetStreamError(error, STREAM_NOT_FOUND)) return undefined
    throw error
  }
}
