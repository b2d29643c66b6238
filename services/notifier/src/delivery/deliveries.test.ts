import { storyMetadata, withoutProjector } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { DELIVERY, openNotifier, uuid } from '../testing/notifier-host.ts'
import { Deliveries } from './deliveries.ts'
import { deliveryRecord } from './delivery.projection.ts'

const open = async () => {
  const now = () => new Date('2026-11-21T10:00:00.000Z')
  const { dependencies } = await openNotifier({}, { start: false, now })
  const projector = withoutProjector(dependencies.readModels)
  const deliveries = new Deliveries({ ...dependencies, projector }, { schedule: [], retentionMs: 60_000 })
  const create = (n: number, changes = {}) =>
    deliveries.issue(uuid(n), { type: 'CreateDelivery', id: uuid(n), ...DELIVERY, ...changes })
  return { deliveries, create }
}

test('pending deliveries are found by webhook, in the order of their due times', async () => {
  const { deliveries, create } = await open()
  const other = uuid(9)
  for (const n of [1, 2]) await create(n)
  await create(3, { webhook: other, eventType: 'API_DELETED' })
  await deliveries.execute(uuid(1), { type: 'CancelDelivery', metadata: storyMetadata })
  expect((await deliveries.pendingOf(DELIVERY.webhook, 10)).map(({ id }) => id)).toEqual([uuid(2)])
  expect(await deliveries.countPendingOf(DELIVERY.webhook)).toBe(1)
  expect(await deliveries.countPending()).toBe(2)
  expect(await deliveries.pendingType(other, ['API_CREATED', 'API_DELETED'])).toBe('API_DELETED')
  expect(await deliveries.pendingType(other, ['API_CREATED'])).toBeUndefined()
})

test('a delivery that waits for an inactive webhook has no time of the next attempt, unless it is a test', async () => {
  const { deliveries, create } = await open()
  await create(1)
  await create(2, { eventType: 'TEST' })
  const nextOf = async (n: number, active: boolean) => {
    const doc = (await deliveries.documents.get(uuid(n)))?.doc ?? expect.fail()
    const webhook = { active, eventTypes: ['API_CREATED'] }
    return (await deliveryRecord(doc, deliveries.payloads, { scopes: [] }, webhook)).nextAttemptAt
  }
  const { now } = storyMetadata
  expect([await nextOf(1, true), await nextOf(1, false), await nextOf(2, false)]).toEqual([now, null, now])
})

test('the most overdue delivery determines how late deliveries are', async () => {
  const { deliveries, create } = await open()
  expect(await deliveries.overdueMs()).toBe(0)
  const earlier = { ...storyMetadata, now: '2026-11-21T09:59:55.000Z' }
  await deliveries.execute(uuid(1), { type: 'CreateDelivery', metadata: earlier, id: uuid(1), ...DELIVERY })
  await create(2)
  expect(await deliveries.overdueMs()).toBe(5_000)
})
