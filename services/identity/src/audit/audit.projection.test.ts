import type { Projection } from '@gantry/event-sourcing'
import { documentIn, projectingEach, storyMetadata } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { type AuditDocument, auditLog, auditProjections } from './audit.projection.ts'

const [projection] = auditProjections as [Projection]
const { given } = projectingEach(projection)
const { actor, requestId, now: at } = storyMetadata
const change = {
  action: 'API_UPDATED',
  resourceType: 'API',
  resourceId: '11111111-1111-4111-8111-111111111111',
  before: { name: 'weather' },
  after: { name: 'climate' },
} as never
const updated = (id: string, who = actor) => ({
  id,
  type: 'ApiUpdated',
  position: '00000042',
  metadata: { actor: who, requestId, at, change },
})
const document = (id: string, fields: Partial<AuditDocument> = {}) =>
  documentIn(auditLog, {
    id,
    timestamp: at,
    when: `${at}/00000042`,
    userId: actor.id,
    who: '22222222-2222-4222-8222-222222222222',
    action: 'API_UPDATED',
    resourceType: 'API',
    resourceId: '11111111-1111-4111-8111-111111111111',
    what: ['11111111-1111-4111-8111-111111111111', 'API'],
    details: '{"before":{"name":"weather"},"after":{"name":"climate"}}',
    requestId,
    ...fields,
  })

test('each change has a document under the id of its event', async () => {
  await given(updated('one'), updated('two')).then(document('one'), document('two'))
})

test('a change by the service itself is found by the name of the part that acted', async () => {
  const service = { id: null, name: 'catalog' }
  await given(updated('one', service)).then(document('one', { userId: null, who: 'catalog' }))
})

test('an event without a change has no document', async () => {
  await given({ type: 'NameClaimFenced' }).then()
})

test('the streams of all services are audited', () => {
  expect(auditProjections.map(({ category }) => category).toSorted()).toEqual([
    'api',
    'delivery',
    'image',
    'logins',
    'platformevent',
    'recovery',
    'signingkey',
    'token',
    'user',
    'webhook',
  ])
})
