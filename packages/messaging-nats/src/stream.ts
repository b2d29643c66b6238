import { type JetStreamManager, nanos, RetentionPolicy, StorageType, type StreamConfig } from 'nats'
import { isJetStreamError } from './reason.ts'
import type { NatsOptions } from './settings.ts'

/** A message published again within this time is known by its id. */
const DUPLICATE_WINDOW_MS = 120_000

const STREAM_NOT_FOUND = 10059

/**
 * Makes the stream, or adds to it what it lacks. What is not given in the options stays as the operator left it, and
 * subjects that a newer version added stay too, whichever version starts last.
 * @returns how it is now
 */
export async function ensureStream(
  jsm: JetStreamManager,
  stream: string,
  { subjects = [], replicas, retentionMs }: Pick<NatsOptions, 'subjects' | 'replicas' | 'retentionMs'>,
): Promise<StreamConfig> {
  const chosen = {
    ...(replicas !== undefined && { num_replicas: replicas }),
    ...(retentionMs !== undefined && { max_age: nanos(retentionMs) }),
  }
  const current = await configOf(jsm, stream)
  if (!current) {
    const made = await jsm.streams.add({
      name: stream,
      subjects: [...subjects],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      duplicate_window: nanos(
        retentionMs === undefined ? DUPLICATE_WINDOW_MS : Math.min(DUPLICATE_WINDOW_MS, retentionMs),
      ),
      ...chosen,
    })
    return made.config
  }
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

async function configOf(jsm: JetStreamManager, stream: string): Promise<StreamConfig | undefined> {
  try {
    return (await jsm.streams.info(stream)).config
  } catch (error) {
    if (isJetStreamError(error, STREAM_NOT_FOUND)) return undefined
    throw error
  }
}
