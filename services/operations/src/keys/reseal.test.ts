import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Reseal, requests } from '@gantry/contracts'
import { answerOperators } from '@gantry/hosting'
import { localPeers, processLog } from '@gantry/service-runtime'
import { expect, onTestFinished, test } from 'vitest'
import { run as reseal } from './reseal.ts'

test('processes whose first keys differ are found also if each pass reaches only some of them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-reseal-'))
  const peers = localPeers()
  const about = { log: processLog({ level: 'silent' }), now: () => new Date() }
  const stop = await answerOperators(folder, peers, about)
  onTestFinished(async () => {
    await stop()
    await rm(folder, { recursive: true })
  })
  const asked: Reseal[] = []
  const retired: unknown[] = []
  /** Answers the first pass with key 2, and the others with key 1, which finds its own seals. */
  const reply = async (request: Reseal) => {
    asked.push(request)
    const [id, sealed] = asked.length <= 2 ? (['2', 3] as const) : (['1', 0] as const)
    const key = { id, fingerprint: `of ${id}` }
    return { key, examined: 3, resealed: sealed, failed: [], next: null }
  }
  for (const service of ['identity', 'notifier'] as const) peers.answer(requests.reseal(service), reply)
  peers.answer(requests.retireKeys, async request => {
    retired.push(request)
    return { retired: ['2'] }
  })
  await expect(reseal([], { DATA_DIR: folder })).rejects.toThrow(
    /^ENCRYPTION_KEY differs between processes: the first key is 2 in one and 1 in another/,
  )
  expect(retired).toEqual([])
  expect(asked.map(({ fingerprint }) => fingerprint)).toEqual([undefined, 'of 2', 'of 2'])
})
