import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requests, subjects, type UserName } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { localPeers } from './peers.ts'
import { userNames } from './user-names.ts'

const ada = '11111111-1111-4111-8111-111111111111'
const unknown = '22222222-2222-4222-8222-222222222222'
const named = (displayName: string): UserName => ({ username: 'ada', displayName, deleted: false })

test('names are asked for once, until the user changes, and a failure leaves them out for a moment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-names-'))
  const bus = sqliteBus({ path: join(folder, 'messages.db') })
  const peers = localPeers()
  const asked: unknown[] = []
  let answer: () => Promise<Record<string, UserName>> = async () => ({ [ada]: named('Ada') })
  const withdraw = peers.answer(requests.userNames, async request => {
    asked.push(request)
    return answer()
  })
  const { namesOf, listen } = userNames({
    bus,
    process: { holder: '', peers, log: pino({ level: 'silent' }), metrics: new Registry() },
  })
  const listening = listen()
  try {
    const both = [ada, null, unknown, ada]
    await Promise.all([namesOf(both), namesOf([ada])])
    expect(await namesOf(both)).toEqual(new Map([[ada, named('Ada')]]))
    expect(asked).toEqual([{ users: [ada, unknown] }])

    // An answer that was on its way when the user changed is not kept.
    let arrive = () => {}
    answer = () => new Promise(resolve => (arrive = () => resolve({ [ada]: named('Ada') })))
    await bus.broadcast(subjects.principalChanged, { userId: ada })
    const early = namesOf([ada])
    await bus.broadcast(subjects.principalChanged, { userId: ada })
    arrive()
    expect(await early).toEqual(new Map([[ada, named('Ada')]]))
    answer = async () => ({ [ada]: named('Ada King') })
    expect(await namesOf([ada])).toEqual(new Map([[ada, named('Ada King')]]))

    withdraw()
    await bus.broadcast(subjects.principalChanged, { userId: ada })
    expect(await namesOf([ada])).toEqual(new Map())
  } finally {
    await listening.stop()
    await bus.close()
    await rm(folder, { recursive: true })
  }
})
