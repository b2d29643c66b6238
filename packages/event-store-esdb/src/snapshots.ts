import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import {
  ANY,
  BACKWARDS,
  binaryEvent,
  END,
  type EventData,
  jsonEvent,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import {
  AppendTooLarge,
  MAX_APPEND_BYTES,
  NO_STREAM,
  nameUuids,
  type StoredSnapshot,
} from '@gantry/event-sourcing'
import { SNAPSHOTS } from './recorded.ts'
import { read } from './server/read.ts'
import type { Server } from './server/server.ts'

const TYPE = 'Snapshot'
const settingsId = nameUuids('1f4e0c52-33a8-4d6f-9f0b-0a8f3c7f7d10')
const compress = promisify(gzip)
const decompress = promisify(gunzip)

const streamOf = (stream: string) => `${SNAPSHOTS}${stream}`

/**
 * The event of a snapshot. It is compressed because an append is limited to 1 MiB, and binary like all events that are not
 * those of a service.
 */
export async function toEvent(stream: string, snapshot: StoredSnapshot): Promise<EventData> {
  const data = await compress(JSON.stringify(snapshot))
  if (data.byteLength + 2 * TYPE.length > MAX_APPEND_BYTES) throw new AppendTooLarge(stream)
  return binaryEvent({ id: randomUUID(), type: TYPE, data })
}

/** Returns undefined for everything that is not a snapshot of this adapter. */
async function fromEvent({
  type,
  data,
}: {
  type: string
  data: unknown
}): Promise<StoredSnapshot | undefined> {
  if (type !== TYPE || !(data instanceof Uint8Array)) return undefined
  try {
    return JSON.parse((await decompress(data)).toString())
  } catch {
    return undefined
  }
}

/**
 * The snapshot of a stream is the last event of a separate stream, whose $maxCount lets the server forget earlier ones.
 * Subscriptions exclude these streams by the prefix of their names.
 */
export function snapshotsOn(server: Server, timeoutMs: number) {
  /** Sets $maxCount. Existing settings of the stream are not changed. */
  const keepLastOnly = async (stream: string) => {
    const settings = jsonEvent({ id: settingsId(stream), type: '$metadata', data: { $maxCount: 1 } })
    try {
      await server.append(`$$${stream}`, [settings], NO_STREAM, timeoutMs)
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error
    }
  }

  const save = async (stream: string, event: EventData): Promise<void> => {
    await keepLastOnly(streamOf(stream))
    await server.append(streamOf(stream), [event], ANY, timeoutMs)
  }

  const last = async (stream: string): Promise<StoredSnapshot | undefined> => {
    const { client, left } = server.reads()
    const stored = client.readStream(streamOf(stream), {
      direction: BACKWARDS,
      fromRevision: END,
      maxCount: 1,
    })
    try {
      for await (const { event } of read(stored, { timeoutMs, left }))
        if (event) return await fromEvent(event)
      return undefined
    } catch (error) {
      if (error instanceof StreamNotFoundError) return undefined
      throw error
    }
  }

  /** Hides the last snapshot by an empty event after it. The next scavenge erases it. */
  const erase = async (stream: string): Promise<void> => {
    if (!(await last(stream))) return
    const end = binaryEvent({ id: randomUUID(), type: 'SnapshotRemoved', data: new Uint8Array() })
    await server.append(streamOf(stream), [end], ANY, timeoutMs)
  }

  return { save, last, erase }
}
