import { randomUUID } from 'node:crypto'
import type { EventStore } from '@gantry/event-sourcing'
import { administrator } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hostIdentity, PASSWORD } from '../testing/identity-host.ts'

const MANY = 300

test('many logins of a user add nothing to the events that a login and a request for the user read', async () => {
  let read = 0
  const counting = (store: EventStore): EventStore => ({
    ...store,
    async readStream(...call) {
      const events = await store.readStream(...call)
      read += events.length
      return events
    },
    async readLast(...call) {
      const event = await store.readLast(...call)
      if (event) read++
      return event
    },
  })
  const identity = await hostIdentity({}, dependencies => ({
    ...dependencies,
    eventStore: counting(dependencies.eventStore),
  }))
  onTestFinished(() => identity.close())
  const admin = identity.as(administrator)
  const create = async (username: string) => {
    const id = (await admin.post('/users', { body: { username, password: PASSWORD } })).body.id as string
    await identity.loginToken(username)
    return { username, id }
  }
  const [few, many] = [await create('few'), await create('many')]
  const { eventStore } = identity.host.dependencies
  const stream = `logins-${many.id}`
  const last = await eventStore.readLast(stream)
  if (!last) throw new Error('no login is recorded')
  const { type, data, metadata, revision } = last
  const copies = Array.from({ length: MANY }, () => ({ id: randomUUID(), type, data, metadata }))
  await eventStore.append(stream, copies, revision)
  await identity.loginToken(many.username)
  await vi.waitFor(async () => expect(await eventStore.readSnapshot(stream)).toBeDefined(), { interval: 5 })

  /** The number of events that a newly started process reads, which has cached no stream. */
  const readFor = async ({ username, id }: typeof few) => {
    await identity.restart()
    read = 0
    await identity.loginToken(username)
    expect((await admin.get(`/users/${id}`)).status).toBe(200)
    return read
  }
  // The workers of the service read some events meanwhile.
  expect(await readFor(many)).toBeLessThan((await readFor(few)) + MANY / 10)
})
