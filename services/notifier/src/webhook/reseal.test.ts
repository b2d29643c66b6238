import { requests } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { openNotifier, uuid } from '../testing/notifier-host.ts'

test('a webhook whose first event is quarantined is named, and seals of another first key are refused', async () => {
  const { dependencies, subscribe, append } = await openNotifier()
  await subscribe('http://127.0.0.1:1/', ['API_CREATED'])
  const id = uuid(1)
  await append(`webhook-${id}`, 'WebhookCreated', null)

  const reseal = (request: { fingerprint?: string }) =>
    dependencies.process.peers.ask(requests.reseal('notifier'), { after: null, ...request })
  const resealed = await reseal({})
  expect(resealed).toMatchObject({ examined: 2, resealed: 0, failed: [`webhook ${id}`], next: null })
  expect(await reseal({ fingerprint: 'another' })).toEqual({ ...resealed, examined: 0, failed: [] })
})
