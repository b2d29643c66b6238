import { expect, test } from 'vitest'
import { NEVER_OPEN, openNotifier, uuid } from './testing/notifier-host.ts'
import { eventOf, failing, openReceiver } from './testing/receiver.ts'

const DAY_MS = 86_400_000

test('a webhook without success for days causes warnings, is disabled, and can start again without failures', async () => {
  let days = 0
  const receiver = await openReceiver()
  const host = await openNotifier(
    { WEBHOOK_RETRY_SCHEDULE: '5ms' },
    { now: () => new Date(Date.now() + days * DAY_MS), breaker: NEVER_OPEN },
  )
  receiver.respond = (arrival, number) =>
    arrival.path.startsWith('/dead') ? failing(arrival, number) : { status: 200 }
  const dead = await host.subscribe(receiver.url('/dead?key=hidden'), ['API_CREATED', 'WEBHOOK_FAILING'])
  await host.subscribe(receiver.url('/owner'), ['WEBHOOK_FAILING', 'WEBHOOK_DISABLED'])
  const told = async (count: number) => (await receiver.arrivals('/owner', count)).map(eventOf)
  const readDead = async () => (await host.call('GET', `/webhooks/${dead.id}`)).body
  for (let n = 0; n < 20; n++) await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await host.having('GIVE_UP', 20)
  expect(receiver.on('/owner')).toEqual([])

  days = 1.1
  await host.happen({ id: uuid(21), type: 'API_CREATED' })
  const [first] = await told(1)
  expect(first).toMatchObject({
    type: 'WEBHOOK_FAILING',
    data: { id: dead.id, url: receiver.url('/dead'), active: true, failedDeliveries: 20 },
  })
  await host.having('GIVE_UP', 21)
  days = 3.1
  await host.kill()
  await host.happen({ id: uuid(22), type: 'API_CREATED' })
  expect((await told(2)).map(({ type }) => type)).toEqual(['WEBHOOK_FAILING', 'WEBHOOK_FAILING'])
  await host.having('GIVE_UP', 22)
  expect((await readDead()).active).toBe(true)

  days = 5.1
  await host.happen({ id: uuid(23), type: 'API_CREATED' })
  const [, , last] = await told(3)
  expect(last).toMatchObject({
    type: 'WEBHOOK_DISABLED',
    data: { id: dead.id, url: receiver.url('/dead'), active: false },
  })
  expect(JSON.stringify([first, last])).not.toContain('hidden')
  const disabled = await readDead()
  expect(disabled).toMatchObject({ active: false })
  expect(disabled.disabledReason).toMatch(
    /^no delivery to http.* has succeeded since .*: at least 20 deliveries/,
  )
  // The failing webhook does not receive the warnings about itself.
  const events = (await host.history()).filter(({ webhook }) => webhook === dead.id)
  expect(new Set(events.map(({ eventType }) => eventType))).toEqual(new Set(['API_CREATED']))
  await host.rebuild()
  expect(await readDead()).toEqual(disabled)

  await host.update(dead, { active: true })
  expect(await readDead()).toMatchObject({ active: true, disabledReason: null })
  // The pending delivery fails as before, but the webhook is not disabled at once.
  await host.having('GIVE_UP', 23)
  await host.happen({ id: uuid(24), type: 'API_CREATED' })
  await host.having('GIVE_UP', 24)
  expect((await readDead()).active).toBe(true)
  expect(receiver.on('/owner')).toHaveLength(3)
})
