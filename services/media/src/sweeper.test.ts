import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folderBlobStore, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { type EventStore, NO_STREAM } from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/stores'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { storedBytes } from './bytes/bytes.ts'
import { referencedBytes, startDraftSweeper, startSweeper } from './sweeper.ts'
import { blobsIn } from './testing/blobs.ts'

const NAME = 'media.sweeper'
const A = 'a1'.repeat(32)
const ASIDE = `aside-${'b2'.repeat(32)}`

let folder: string
let eventStore: EventStore
let readModels: ReadModels
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-sweeper-'))
  eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
})
afterEach(async () => {
  await Promise.all([eventStore.close(), readModels.close()])
  await rm(folder, { recursive: true })
})

/**
 * Runs a sweeper on a store of unreferenced bytes: A, and others that an earlier sweep set aside.
 * @param pausedAfter call on the store after which the sweeper is paused and loses its lease
 */
const sweeping = (pausedAfter?: string) => {
  const stored = new Map<string, Uint8Array>([A, ASIDE].map(key => [key, Buffer.from(key)]))
  const reach = async (call: string) => {
    if (call !== pausedAfter) return
    // The lease expires during the pause, and another replica takes it. The paused holder has not noticed yet.
    const { leases } = readModels
    const lost = await leases.acquire(NAME, 'paused', 5_000)
    if (lost) await leases.release(lost)
    expect(await leases.acquire(NAME, 'another', 600_000)).toBeDefined()
  }
  const said: string[] = []
  const note = (_: object, message: string) => void said.push(message)
  const sweeper = startSweeper(storedBytes(blobsIn(stored, reach)), {
    eventStore,
    readModels,
    now: () => new Date('2026-11-21T10:00:00.000Z'),
    retentionMs: 0,
    process: { holder: 'paused', log: { info: note, warn: note, error: note } },
  })
  onTestFinished(() => sweeper.stop())
  const keys = () => [...stored.keys()].toSorted()
  return {
    keys,
    said,
    stop: () => sweeper.stop(),
    /** The keys in the store after the sweeper has stopped. */
    async keysInTheEnd() {
      await vi.waitFor(() => expect(said).toEqual(['lost its lease, waits for it']))
      return keys()
    },
  }
}

test('a sweeper that holds its lease removes bytes that were set aside and sets aside the others', async () => {
  const { keys } = sweeping()
  await vi.waitFor(() => expect(keys()).toEqual([`aside-${A}`]))
})

test('a sweeper that lost its lease between listing and deleting deletes nothing', async () => {
  expect(await sweeping('keys').keysInTheEnd()).toEqual([A, ASIDE].toSorted())
})

test('a sweeper that lost its lease between two deletions deletes nothing more', async () => {
  expect(await sweeping(`delete ${ASIDE}`).keysInTheEnd()).toContain(A)
})

test('a sweeper that lost its lease while it sets bytes aside leaves them under both keys', async () => {
  expect(await sweeping(`put aside-${A}`).keysInTheEnd()).toEqual([A, `aside-${A}`].toSorted())
})

test('uploads that a killed process left are removed each hour, without a restart', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const drafts = join(folder, 'images', '.incomplete')
  await mkdir(drafts, { recursive: true })
  const leave = async (name: string) => {
    await writeFile(join(drafts, name), 'half')
    await utimes(join(drafts, name), new Date('2020-01-01'), new Date('2020-01-01'))
  }
  const removed = () => vi.waitFor(async () => expect(await readdir(drafts)).toEqual(['being written']))
  await writeFile(join(drafts, 'being written'), 'half')
  await leave('before the start')
  const sweeper = startDraftSweeper(storedBytes(folderBlobStore({ path: join(folder, 'images') })), {
    log: { info() {}, warn() {}, error() {} },
  })
  onTestFinished(() => sweeper.stop())
  await removed()
  await leave('after the start')
  await vi.advanceTimersByTimeAsync(3_600_000)
  await removed()
})

const metadata = { actor: { id: null, name: 'story' }, requestId: 'story', at: '2026-11-21T10:00:00.000Z' }

test.each([
  ['of a later release', 'ImageCropped', { bytes: A }, metadata],
  ['that is malformed', 'ImageUploaded', { sha256: A }, { ...metadata, at: '' }],
])(
  'a sweeper removes nothing while the log has an event %s, which may name bytes',
  async (_, type, data, at) => {
    await eventStore.append('image-1', [{ id: randomUUID(), type, data, metadata: at }], NO_STREAM)
    const { keys, said, stop } = sweeping()
    await vi.waitFor(() =>
      expect(said).toEqual(['keeps all bytes: an event that cannot be read may name some']),
    )
    await stop()
    expect(keys()).toEqual([A, ASIDE].toSorted())
  },
)

test('an event of an unknown type drops no reference to bytes; a deletion and a discard do', async () => {
  for (const type of ['ImageRated', 'ImageDeleted', 'ImageDiscarded']) {
    const events = [
      { id: randomUUID(), type: 'ImageUploaded', data: { sha256: type }, metadata },
      { id: randomUUID(), type, data: {}, metadata },
    ]
    await eventStore.append(`image-${type}`, events, NO_STREAM)
  }
  expect((await referencedBytes(eventStore)).live).toEqual(new Set(['ImageRated']))
})

test('documents reference their bytes, and after a replacement or a removal for a time', async () => {
  const at = (time: string, type: string, data: Record<string, string | string[]>) => ({
    id: randomUUID(),
    type,
    data: { apiVersion: 'v', ...data },
    metadata: { ...metadata, at: `2026-11-21T${time}:00.000Z` },
  })
  const upload = (time: string, name: string, sha256: string) =>
    at(time, 'DocumentUploaded', { name, sha256 })
  const events = [
    upload('10:00', 'a', 'a1'),
    upload('10:00', 'b', 'b1'),
    upload('10:00', 'c', 'c1'),
    upload('10:00', 'd', 'd1'),
    upload('11:00', 'a', 'a2'),
    upload('12:00', 'b', 'b2'),
    at('13:00', 'DocumentDeleted', { name: 'c' }),
  ]
  await eventStore.append('documents-1', events, NO_STREAM)
  const of = async () => {
    const { live, replaced } = await referencedBytes(eventStore, { since: '2026-11-21T12:00:00.000Z' })
    return [[...live].toSorted(), [...replaced].toSorted()]
  }
  expect(await of()).toEqual([
    ['a2', 'b2', 'd1'],
    ['b1', 'c1'],
  ])
  const discarded = at('14:00', 'VersionDocumentsDiscarded', { names: ['a', 'b'] })
  await eventStore.append('documents-1', [discarded, at('15:00', 'DocumentsDiscarded', {})], 6)
  expect(await of()).toEqual([[], ['a2', 'b1', 'b2', 'c1', 'd1']])
})
