import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { sqliteEventStore, sqliteReadModels, sqliteUserKeys } from '@gantry/embedded'
import { heldStreams, listHeld, NO_STREAM } from '@gantry/event-sourcing'
import type { FrozenStreams } from '@gantry/event-sourcing/testing'
import type { UserKey } from '@gantry/read-models'
import { runCommand } from '@gantry/standalone/testing'
import { expect, onTestFinished, test } from 'vitest'

type Stream = FrozenStreams['streams'][number]

const ROOT = resolve(import.meta.dirname, '../..')
const frozen = globSync('services/*/src/frozen/*/*.streams.json', { cwd: ROOT }).toSorted()

/** All frozen streams, distributed over several logs so that stream names are unique in each log. */
const logs: Map<string, Stream>[] = []
for (const file of frozen) {
  const { streams } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as FrozenStreams
  for (const stream of streams) {
    const name = stream[0]?.stream ?? ''
    const log = logs.find(known => !known.has(name)) ?? new Map<string, Stream>()
    if (!logs.includes(log)) logs.push(log)
    log.set(name, stream)
  }
}

test('all services have frozen streams', () => {
  expect([...new Set(frozen.map(file => file.split('/')[1]))]).toEqual([
    'catalog',
    'identity',
    'media',
    'notifier',
  ])
})

test.for([...logs.keys()])('a rebuild from log %i of frozen streams holds none of them', async number => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-frozen-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const log = [...(logs[number] ?? [])]
  const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  await Promise.all(log.map(([name, stream]) => eventStore.append(name, stream, NO_STREAM)))
  await eventStore.close()
  await addKeys(folder)

  const projectors = await rebuild(folder)
  expect(projectors.toSorted()).toEqual([
    'catalog.periods',
    'catalog.projector',
    'identity.audit',
    'identity.projector',
    'media.projector',
    'notifier.periods',
    'notifier.projector',
  ])

  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  onTestFinished(() => readModels.close())
  const held = []
  for (const projector of projectors) {
    for await (const { id, reason } of listHeld(heldStreams(projector), readModels)) held.push({ id, reason })
  }
  expect(held).toEqual([])
})

/** Adds the keys of the users whose frozen streams are encrypted. */
async function addKeys(folder: string): Promise<void> {
  const store = sqliteUserKeys({ path: join(folder, 'user-keys.db') })
  for (const file of globSync('services/identity/src/frozen/user/*.keys.json', { cwd: ROOT })) {
    const keys: Record<string, UserKey> = JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
    for (const [user, { key, erasedAt }] of Object.entries(keys))
      await (key === null ? store.erase(user, erasedAt) : store.add(user, key))
  }
  await store.close()
}

/** Runs `npm run rebuild`. @returns the projectors that have finished */
async function rebuild(folder: string): Promise<string[]> {
  const { code, output } = await runCommand(['rebuild'], {
    DATA_DIR: folder,
    ENCRYPTION_KEY: '07'.repeat(32),
  })
  expect(code, output).toBe(0)
  return [...output.matchAll(/^(\S+): done/gm)].map(([, name = '']) => name)
}
