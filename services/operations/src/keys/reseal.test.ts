import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ResealRequest, subjects } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import { expect, onTestFinished, test } from 'vitest'
import type { z } from 'zod'
import { run as reseal } from './reseal.ts'

test('processes whose first keys differ are found also if each pass reaches only some of them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-reseal-'))
  const bus = sqliteBus({ path: join(folder, 'messages.db') })
  onTestFinished(async () => {
    await bus.close()
    await rm(folder, { recursive: true })
  })
  const requests: z.infer<typeof ResealRequest>[] = []
  const retired: unknown[] = []
  /** Answers the first pass with key 2, and the others with key 1, which finds its own seals. */
  const reply = async (request: unknown) => {
    requests.push(request as z.infer<typeof ResealRequest>)
    const [id, sealed] = requests.length <= 2 ? ['2', 3] : ['1', 0]
    const key = { id, fingerprint: `of ${id}` }
    return { key, examined: 3, resealed: sealed, failed: [], next: null }
  }
  for (const subject of [subjects.resealIdentity, subjects.resealNotifier]) bus.respond(subject, reply)
  bus.respond(subjects.retireKeys, async request => {
    retired.push(request)
    return { retired: ['2'] }
  })
  await expect(reseal([], { DATA_DIR: folder })).rejects.toThrow(
    /^ENCRYPTION_KEY differs between processes: the first key is 2 in one and 1 in another/,
  )
  expect(retired).toEqual([])
  expect(requests.map(({ fingerprint }) => fingerprint)).toEqual([undefined, 'of 2', 'of 2'])
})
