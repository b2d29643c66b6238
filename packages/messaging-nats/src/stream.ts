import { BusUnavailable } from '@gantry/messaging'
import {
  connect,
  ErrorCode,
  type JetStreamManager,
  type NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats'
import { isJetStreamError, natsFailureOf } from './errors.ts'
import { connectionOptions, type NatsOptions, NatsRefused, type StreamOptions } from './settings.ts'

/** JetStream detects the repetition of a message by its id within this time. */
const DUPLICATE_WINDOW_MS = 120_000

const STREAM = 'GANTRY'
const SUBJECTS = ['events.>', 'platform.events', 'deployments.reported']

export const STREAM_NOT_FOUND = 10059
const STREAM_EXISTS = 10058
const SUBJECTS_OVERLAP = 10065
/** No suitable servers, not enough resources, no cluster (nats-server, server/errors.json). */
const NO_ROOM = [10005, 10023, 10074]

/**
 * Key of the metadata with the number of changes of the settings. An update replaces the whole configuration. So an update
 * that began before another change and ends after it undoes that change, and the number shows it.
 */
const CHANGES = 'gantry.settings-changes'

/** A stream to which a process has applied its settings. */
export interface Configured {
  /** When the server created the stream, which distinguishes it from a later one of the same name. */
  created: string
  /** Number of changes of its settings that the process knows; 0 for a process without settings. */
  changes: number
}

interface Stream extends Configured {
  config: Pick<StreamConfig, 'name' | 'subjects' | 'num_replicas'>
}

interface Server {
  jsm: JetStreamManager
  /** Whether streams can have metadata: since nats-server 2.10. Without it the number of changes is always 0. */
  metadata: boolean
}

/**
 * Creates the stream, or adds what it lacks. Properties that are not in the options stay as the operator has set them.
 * Subjects that a newer version added stay too, whichever version starts last. Number of replicas and retention are applied
 * once by each process to the stream that is `configured`, and again if another process has overwritten them. So, while
 * processes with different settings run, those of the process that started last are in force, whichever reconnects.
 * @throws NatsRefused when messages are removed earlier than a setting requires, or for too many replicas
 */
export async function ensureStream(
  server: Server,
  options: StreamOptions,
  configured?: Configured,
): Promise<Stream> {
  const { jsm } = server
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
    return made ? { config: made.config, created: made.created, changes: 0 } : ensureStream(server, options)
  }
  const { config: current, created } = existing
  const known = configured?.created === created ? configured : undefined
  const missing = subjects.filter(subject => !current.subjects.includes(subject))
  const wanted: StreamConfig = {
    ...current,
    ...((!known || isOverwritten(current, known)) && chosen),
    subjects: [...current.subjects, ...missing],
  }
  requireNeeded(stream, wanted, needed)
  // A single server accepts an update to several replicas without keeping them.
  if (replicas !== undefined && replicas > 1 && !existing.cluster?.name)
    throw refused(replicas, 'the server is not in a cluster')
  const isSet = wanted.num_replicas === current.num_replicas && wanted.max_age === current.max_age
  const changes = Math.max(changesOf(current), known?.changes ?? 0) + 1
  const metadata = { ...current.metadata, [CHANGES]: String(changes) }
  const config = await update(jsm, wanted, {
    ...(missing.length > 0 && { subjects: wanted.subjects }),
    ...(!isSet && { ...chosen, ...(server.metadata && { metadata }) }),
  })
  const hasSettings = Object.keys(chosen).length > 0
  return { config, created, changes: hasSettings ? changesOf(config) : 0 }
}

/** The stream as it is; one without subjects if there is none. */
export async function existingStream(
  { jsm }: Pick<Server, 'jsm'>,
  { name = STREAM }: StreamOptions,
): Promise<Stream> {
  const { config, created } = (await streamOf(jsm, name)) ?? {
    config: { name, subjects: [], num_replicas: 1 },
    created: '',
  }
  return { config, created, changes: 0 }
}

const changesOf = ({ metadata }: StreamConfig) => Number(metadata?.[CHANGES] ?? 0)

/** Whether another process has restored settings that were in force before a change that this one knows. */
export const isOverwritten = (config: StreamConfig, { changes }: Configured): boolean =>
  changesOf(config) < changes

/** @returns undefined when another process has created it meanwhile, with other options */
async function make(
  jsm: JetStreamManager,
  config: Parameters<JetStreamManager['streams']['add']>[0],
): Promise<StreamInfo | undefined> {
  try {
    return await change(config.num_replicas ?? 1, jsm.streams.add(config))
  } catch (error) {
    if (isJetStreamError(error, STREAM_EXISTS)) return undefined
    // A server may compare the subjects before the names.
    if (isJetStreamError(error, SUBJECTS_OVERLAP) && (await streamOf(jsm, config.name ?? '')))
      return undefined
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

/**
 * Changes the properties that differ from what is wanted. The client adds the others as they are at this moment.
 * @returns what the server has stored @throws NatsRefused when the servers cannot keep that many replicas
 */
async function update(
  jsm: JetStreamManager,
  wanted: StreamConfig,
  differing: Partial<StreamConfig>,
): Promise<StreamConfig> {
  if (Object.keys(differing).length === 0) return wanted
  try {
    const { config } = await change(wanted.num_replicas, jsm.streams.update(wanted.name, differing))
    return config
  } catch (error) {
    if ((error as NatsError).code !== ErrorCode.Timeout) throw error
    // A cluster does not answer a change that another process is making, nor one while a server is away.
    const { config } = await jsm.streams.info(wanted.name)
    if (config.num_replicas !== wanted.num_replicas)
      throw refused(wanted.num_replicas, 'they do not confirm it; are all of them running?')
    return config
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

/**
 * Deletes the stream with all messages and the positions of its consumers. Services create it again.
 * @returns whether there was one
 * @throws BusUnavailable, also when the user has no right to do this
 */
export async function dropStream(options: NatsOptions): Promise<boolean> {
  const unavailable = (error: unknown) => new BusUnavailable(natsFailureOf(error))
  const nc = await connect(connectionOptions(options)).catch(error => {
    throw unavailable(error)
  })
  try {
    const jsm = await nc.jetstreamManager()
    return await jsm.streams.delete(options.stream?.name ?? STREAM)
  } catch (error) {
    if (isJetStreamError(error, STREAM_NOT_FOUND)) return false
    throw unavailable(error)
  } finally {
    await nc.close()
  }
}
