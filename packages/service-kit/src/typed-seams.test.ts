import {
  type Change,
  type ComposedEventType,
  deleteApi,
  deployApi,
  type Job,
  listApis,
  Refusal,
} from '@gantry/contracts'
import type { Fact } from '@gantry/event-sourcing'
import { expect, expectTypeOf, test } from 'vitest'
import { page } from './listing.ts'
import { changed, publicMessage } from './public-events.ts'
import type { AddRoute } from './routes.ts'

/** The compiler is the subject of these tests: `npm run check` fails at an expected error that does not occur. */

const fact: Fact = {
  id: 'e1',
  type: 'WebhookTested',
  stream: 'webhook-w1',
  revision: 0,
  data: {},
  metadata: { actor: { id: null, name: 'test' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
}

test('a refusal has a problem code of the contracts', () => {
  expect(new Refusal('api-not-found').code).toBe('api-not-found')
  // @ts-expect-error
  expect(new Refusal('api-lost').code).toBe('api-lost')
})

test('a public event has a type of the contracts, and data that fit its schema', () => {
  const data = { webhook: 'w1', message: 'A test' }
  const { subject } = publicMessage('notifier', fact, 'TEST', 'w1', data)
  expect(subject).toBe('events.notifier.TEST')
  // @ts-expect-error
  publicMessage('notifier', fact, 'TESTED', 'w1', data)
  // @ts-expect-error
  publicMessage('notifier', fact, 'TEST', 'w1', { webhook: 'w1' })
  // @ts-expect-error
  publicMessage('notifier', fact, 'TEST', 'w1', { webhook: 'w1', message: 1 })
  // @ts-expect-error
  publicMessage('catalog', fact, 'API_DEPLOYED', 'a1', data)
})

test('the public event of a change has the changed resource as its data, except for these types', () => {
  expectTypeOf<ComposedEventType>().toEqualTypeOf<
    | 'API_DEPLOYED'
    | 'API_UNDEPLOYED'
    | 'API_DEPLOYMENT_FAILED'
    | 'WEBHOOK_FAILING'
    | 'PRODUCT_API_ADDED'
    | 'PRODUCT_API_REMOVED'
  >()
})

test('a change has an action of its resource type, and snapshots that fit the schema of the type', () => {
  const delivery = { webhook: 'w1', eventId: 'e1', eventType: 'TEST', status: 'CANCELLED' } as const
  const cancelled: Change = {
    action: 'DELIVERY_CANCELLED',
    resourceType: 'DELIVERY',
    resourceId: 'd1',
    before: null,
    after: delivery,
  }
  expect(changed(cancelled)).toBe(delivery)
  const changes: Change[] = [
    // @ts-expect-error
    { ...cancelled, action: 'DELIVERY_LOST' },
    // @ts-expect-error
    { ...cancelled, action: 'API_CREATED' },
    // @ts-expect-error
    { ...cancelled, after: { ...delivery, status: 'LOST' } },
    // @ts-expect-error
    { ...cancelled, resourceType: 'API' },
  ]
  expect(changes).toHaveLength(4)
})

test('a response has a status of its operation, and the body that the operation declares for it', () => {
  const added: string[] = []
  const route: AddRoute = ({ id }) => added.push(id)
  const job: Job = {
    id: 'j1',
    type: 'DEPLOY',
    api: 'a1',
    environment: 'e1',
    status: 'RUNNING',
    startedAt: '2026-11-21T10:00:00.000Z',
  }
  route(deployApi, async () => ({ status: 202, body: job }))
  // @ts-expect-error
  route(deployApi, async () => ({ status: 200, body: job }))
  // @ts-expect-error
  route(deployApi, async () => ({ status: 202 }))
  // @ts-expect-error
  route(deployApi, async () => ({ status: 202, body: { ...job, status: 'LOST' } }))
  route(deleteApi, async () => ({ status: 204 }))
  // @ts-expect-error
  route(deleteApi, async () => ({ status: 204, body: job }))
  route(listApis, async ({ query }) => ({ status: 200, body: page([], 0, query) }))
  // @ts-expect-error
  route(listApis, async ({ query }) => ({ status: 200, body: page([job], 1, query) }))
  expect(added).toHaveLength(8)
})
