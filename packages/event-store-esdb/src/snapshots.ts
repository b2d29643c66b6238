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
import { read } from './read.ts'
import { SNAPSHOTS } from './recorded.ts'
import type { Server } from './server.ts'

const TYPE = 'Snapshot'
const settingsId = nameUuids('1f4e0c52-33a8-4d6f-9f0b-0a8f3c7f7d10')
const compress = promisify(gzip)
const decompress = promisify(gunzip)

const streamOf = (stream: string) => `${SNAPSHOTS}${stream}`

/** Compressed, since an append has 1 MiB at most; no JSON to the server, like all that is no event of a service. */
export async function toEvent(stream: string, snapshot: StoredSnapshot): Promise<EventData> {
  const data = await compress(JSON.stringify(snapshot))
  if (data.byteLength + 2 * TYPE.length > MAX_APPEND_BYTES) throw new AppendTooLarge(stream)
  return binaryEvent({ id: randomUUID(), type: TYPE, data })
}

/** Whatever is no snapshot of ours counts as none. */
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
 * The snapshot of a stream is the last event of a stream of its own, whose $maxCount lets the server forget the others.
 * Subscriptions leave these streams out, by the beginning of their names.
 */
export function snapshotsOn(server: Server, timeoutMs: number) {
  /** Of a stream that has settings already, they stay. */
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

  /** An empty event after the last snapshot hides it; the next scavenge erases it. */
  const erase = async (stream: string): Promise<void> => {
    if (!(await last(stream))) return
    const end = binaryEvent({ id: randomUUID(), type: 'SnapshotRemoved', data: new Uint8Array() })
    await server.append(streamOf(stream), [end], ANY, timeoutMs)
  }

  return { save, last, erase }
}
