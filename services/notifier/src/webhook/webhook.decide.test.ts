import { join } from 'node:path'
import { SCOPES, type WebhookFormat } from '@gantry/contracts'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { plainKey } from '@gantry/service-runtime'
import { describe, expect, test } from 'vitest'
import { cidrs } from '../http/address.ts'
import type { Standing } from '../user/standing.ts'
import { signingKeys } from './signing.ts'
import { webhookDecider as deciderOf, type WebhookCommand } from './webhook.decide.ts'
import { projectWebhook } from './webhook.projection.ts'
import type { SealedSecret, WebhookEvent, WebhookState } from './webhook.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'webhook',
  decider: deciderOf([]),
  project: projectWebhook,
})

const ID = '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d'
const URL = 'https://example.com/hook'
const NOW = metadata.now
const TOMORROW = '2026-11-22T10:00:00.000Z'
const webhookDecider = deciderOf(cidrs.parse('10.1.0.0/16'))
const { given } = story(webhookDecider)
/** Tells the command after the history. */
const on = (history: readonly WebhookEvent[], command: WebhookCommand) => given(...history).when(command)

const input = {
  name: null,
  displayName: 'Deployments, all!',
  url: URL,
  active: true,
  eventTypes: ['API_DEPLOYED'],
  ordered: null,
  format: null,
}
const fields = {
  name: 'deployments-all',
  displayName: 'Deployments, all!',
  url: URL,
  active: true,
  eventTypes: ['API_DEPLOYED'],
  ordered: false,
  format: 'STANDARD' as WebhookFormat,
}
const created: WebhookEvent = {
  type: 'WebhookCreated',
  data: { id: ID, ...fields, secret: 's1', createdAt: NOW },
}
const updated = (changes: Partial<typeof fields>): WebhookEvent => ({
  type: 'WebhookUpdated',
  data: { ...fields, ...changes, updatedAt: NOW },
})
const rotated = (secret: string): WebhookEvent => ({
  type: 'WebhookSecretRotated',
  data: { secret, oldSecretUntil: TOMORROW },
})
const disabled: WebhookEvent = { type: 'WebhookDisabled', data: { reason: 'gone', disabledAt: NOW } }
const deleted: WebhookEvent = { type: 'WebhookDeleted', data: { deletedAt: NOW } }
const by = { role: 'GLOBAL_ADMIN' as const, scopes: [...SCOPES] }
const create = (changes: object = {}, more: object = {}): WebhookCommand => ({
  type: 'CreateWebhook',
  metadata,
  by,
  id: ID,
  input: { ...input, ...changes },
  sealedSecret: 's1',
  owned: 0,
  ...more,
})
const update = (changes: object, ifMatch?: number[], more: object = {}): WebhookCommand => ({
  type: 'UpdateWebhook',
  metadata,
  ifMatch,
  by,
  pending: [],
  input: { name: null, displayName: fields.displayName, url: URL, events: fields.eventTypes, ...changes },
  ...more,
})
const disable = (url = URL): WebhookCommand => ({ type: 'DisableWebhook', metadata, url, reason: 'gone' })

describe('a webhook', () => {
  test('has a slug of its display name as name unless a name is given', () => {
    given().when(create()).then(created)
    on([], create({ name: 'mine' })).then({
      type: 'WebhookCreated',
      data: { id: ID, ...fields, name: 'mine', secret: 's1', createdAt: NOW },
    })
    on([], create({ displayName: '通知' })).then({
      type: 'WebhookCreated',
      data: { id: ID, ...fields, displayName: '通知', name: 'webhook', secret: 's1', createdAt: NOW },
    })
  })
  describe('whose URL has an IP address as host', () => {
    test('is not created or changed when the address is neither public nor allowed', () => {
      const url = 'http://10.0.0.1/'
      given().when(create({ url })).thenRefused('invalid-request')
      given(created).when(update({ url })).thenRefused('invalid-request')
      expect(() => webhookDecider.decide({ status: 'Absent' }, create({ url }))).toThrow(
        expect.objectContaining({
          details: expect.objectContaining({
            detail:
              'url names an address that webhooks may not use: 10.0.0.1 is not a public address (private); the setting WEBHOOK_ALLOWED_CIDRS can allow it',
          }),
        }),
      )
    })

    test.for(['http://10.1.2.3/', 'https://93.184.215.14/', 'http://example.com/'])('accepts %s', url => {
      given(created).when(update({ url })).then(updated({ url }))
    })

    test('can be changed otherwise when the address is no longer allowed', () => {
      const url = 'http://10.0.0.1/'
      on([created, updated({ url })], update({ url, displayName: 'Renamed' })).then(
        updated({ url, displayName: 'Renamed' }),
      )
    })
  })
  test('accepts existing event types only', () => {
    on([], create({ eventTypes: ['API_DEPLOYED', 'toString'] })).thenRefused('unknown-event-types')
    on([created], update({ events: ['API_EXPLODED'] })).thenRefused('unknown-event-types')
  })
  test('accepts only event types that the caller may read', () => {
    const narrow = { by: { role: 'USER', scopes: ['WEBHOOKS_READ', 'WEBHOOKS_WRITE'] } }
    const fails = { eventTypes: ['WEBHOOK_FAILING'] }
    given().when(create({}, narrow)).thenRefused('scope-missing')
    on([], create(fails, narrow)).then({
      type: 'WebhookCreated',
      data: { id: ID, ...fields, ...fails, secret: 's1', createdAt: NOW },
    })
    on([created], update({}, undefined, narrow)).thenRefused('scope-missing')
    on([created], update({ events: ['WEBHOOK_FAILING'] }, undefined, narrow)).thenRefused('scope-missing')
    on([created, updated(fails)], update({ events: ['API_DEPLOYED'] }, undefined, narrow)).thenRefused(
      'scope-missing',
    )
  })
  test('keeps its URL while a delivery is pending that the caller may not read', () => {
    const url = 'https://example.com/other'
    const narrow = { by: { role: 'USER', scopes: ['WEBHOOKS_READ'] }, pending: ['API_DEPLOYED'] }
    const fails = { eventTypes: ['WEBHOOK_FAILING'] }
    const change = { displayName: 'Renamed', events: fails.eventTypes }
    on([created, updated(fails)], update({ ...change, url }, undefined, narrow)).thenRefused('scope-missing')
    on([created, updated(fails)], update(change, undefined, narrow)).then(
      updated({ ...fails, displayName: 'Renamed' }),
    )
  })
  describe('has an owner', () => {
    const OTHER = '33333333-3333-4333-8333-333333333333'
    const transferred: WebhookEvent = {
      type: 'WebhookTransferred',
      data: { owner: OTHER, transferredAt: NOW },
    }
    const active = { standing: { user: OTHER, status: 'ACTIVE', role: 'USER' } }
    const ownerOf = ({ state }: { state: WebhookState }) => state.status === 'Live' && state.record.owner

    test('who is its creator until it is transferred', () => {
      expect(ownerOf(given(created))).toBe(metadata.actor.id)
      expect(ownerOf(given(created, updated({ name: 'other' })))).toBe(metadata.actor.id)
      expect(ownerOf(given(created, transferred))).toBe(OTHER)
      const state = webhookDecider.evolve(webhookDecider.initial, created, 0, { id: null, name: 'direct' })
      expect(ownerOf({ state })).toBeNull()
    })
    test('whom an administrator can change together with other fields', () => {
      on([created], update({ owner: OTHER }, undefined, active)).then(transferred)
      on([created], update({ owner: OTHER, name: 'other' }, undefined, active)).then(
        transferred,
        updated({ name: 'other' }),
      )
      on([created, transferred], update({ owner: OTHER }, undefined, active)).then()
    })
    const lacking: WebhookEvent = {
      type: 'WebhookDisabled',
      data: { reason: 'owner-lacks-scope', disabledAt: NOW },
    }
    const owner = metadata.actor.id ?? ''
    const powerless: [string, Standing][] = [
      ['is gone', { user: owner, status: 'GONE' }],
      ['is inactive', { user: owner, status: 'INACTIVE', role: 'ADMIN' }],
      ['lacks the scope of a type by role', { user: owner, status: 'ACTIVE', role: 'NO_ACCESS' }],
    ]
    const check = (standing: Standing): WebhookCommand => ({ type: 'CheckOwner', metadata, standing })

    test.for(powerless)('and is disabled when the owner %s', ([, standing]) => {
      given(created).when(check(standing)).then(lacking)
      given(created, lacking).when(check(standing)).then()
      given(created, transferred).when(check(standing)).then()
      given(created, deleted).when(check(standing)).then()
      expect(given(created, lacking).state).toMatchObject({
        record: { active: false, disabledReason: 'owner-lacks-scope' },
      })
    })
    test('and stays active while the owner has the scopes', () => {
      on([created], check({ user: owner, status: 'ACTIVE', role: 'USER' })).then()
    })
    test.for(powerless)('and cannot be made active while the owner %s', ([, standing]) => {
      const again = update({ active: true }, undefined, { standing })
      given(created, lacking).when(again).thenRefused('owner-lacks-scope')
      on([created], update({ name: 'other' }, undefined, { standing })).thenRefused('owner-lacks-scope')
      on([created, lacking], update({ name: 'other' }, undefined, { standing })).then(
        updated({ name: 'other', active: false }),
      )
      on([created, lacking], update({ active: true, owner: OTHER }, undefined, active)).then(
        transferred,
        updated({ active: true }),
      )
    })
    test('who must be able to read pending deliveries too before it is made active', () => {
      const standing = { user: owner, status: 'ACTIVE', role: 'USER' }
      const pending = ['CONFIGURATION_CHANGED']
      on([created, lacking], update({ active: true }, undefined, { standing, pending })).thenRefused(
        'owner-lacks-scope',
      )
      on([created, lacking], update({ active: true }, undefined, { standing })).then(
        updated({ active: true }),
      )
    })
    test('whom only an administrator can change', () => {
      const user = { by: { ...by, role: 'USER' }, ...active }
      on([created], update({ owner: OTHER }, undefined, user)).thenRefused('role-missing')
      on([created], update({ owner: metadata.actor.id }, undefined, user)).then()
    })
    test.for<[string, object]>([
      ['inactive', { standing: { ...active.standing, status: 'INACTIVE' } }],
      ['gone', { standing: { user: OTHER, status: 'GONE' } }],
      ['unknown', {}],
      ['another', { standing: { ...active.standing, user: ID } }],
    ])('who must be an active user, not one who is %s', ([, more]) => {
      on([created], update({ owner: OTHER }, undefined, more)).thenRefused('invalid-request')
    })
  })
  test('keeps fields that an update leaves out', () => {
    on([created], update({ url: 'https://example.com/other' })).then(
      updated({ url: 'https://example.com/other' }),
    )
    on([created], update({ events: null, eventTypes: ['TEST'] })).then(updated({ eventTypes: ['TEST'] }))
  })
  test.for<[string, object, object]>([
    ['order', { ordered: true }, { ordered: false }],
    ['format', { format: 'CLOUDEVENTS_BATCHED' }, { format: 'STANDARD' }],
  ])('keeps its %s until an update changes it', ([, chosen, standard]) => {
    const made = { ...created, data: { ...created.data, ...chosen } } as WebhookEvent
    const url = 'https://example.com/other'
    on([], create(chosen)).then(made)
    on([made], update({ url })).then(updated({ url, ...chosen }))
    on([made], update(standard)).then(updated({}))
  })
  test('is not changed by an update with equal values', () => {
    on([created], update({ active: true, name: 'deployments-all' })).then()
  })
  test('refuses a change based on an older revision; a rotation does not change the revision', () => {
    on([created, updated({ name: 'b' })], update({ name: 'c' }, [0])).thenRefused('precondition-failed')
    on([created, rotated('s2')], update({ name: 'c' }, [0])).then(updated({ name: 'c' }))
    on([created], { type: 'DeleteWebhook', metadata, by, ifMatch: [1] }).thenRefused('precondition-failed')
  })
  test('is not found after its deletion', () => {
    given(created).when({ type: 'DeleteWebhook', metadata, by }).then(deleted)
    given(created, deleted).when({ type: 'DeleteWebhook', metadata, by }).thenRefused('webhook-not-found')
    given(created, deleted).when(update({})).thenRefused('webhook-not-found')
    given().when({ type: 'RotateSecret', metadata, by, sealedSecret: 's' }).thenRefused('webhook-not-found')
    given(created, deleted).when(disable()).then()
  })
})

describe('a secret', () => {
  const secretsAfter = (...events: WebhookEvent[]) => {
    const { state } = given(created, ...events)
    return state.status === 'Live' ? state.secrets : []
  }
  test('signs for a day beside its successor', () => {
    given(created).when({ type: 'RotateSecret', metadata, by, sealedSecret: 's2' }).then(rotated('s2'))
    expect(secretsAfter(rotated('s2'))).toEqual([
      { sealed: 's2', until: null },
      { sealed: 's1', until: TOMORROW },
    ])
  })
  test('is sealed again with the current one, and left out once it has expired', () => {
    const reseal = (renewed: [string, string][], now = metadata.now): WebhookCommand => ({
      type: 'ResealSecrets',
      metadata: { ...metadata, now },
      renewed: new Map(renewed),
    })
    const resealed = (...secrets: SealedSecret[]): WebhookEvent => ({
      type: 'WebhookSecretsResealed',
      data: { secrets },
    })
    const [s2, s1] = [
      { sealed: '1.s2', until: null },
      { sealed: '1.s1', until: TOMORROW },
    ] as const
    const renewed: [string, string][] = [
      ['s1', '1.s1'],
      ['s2', '1.s2'],
    ]
    given(created, rotated('s2')).when(reseal(renewed)).then(resealed(s2, s1))
    given(created, rotated('s2')).when(reseal(renewed, TOMORROW)).then(resealed(s2))
    expect(secretsAfter(rotated('s2'), resealed(s2, s1))).toEqual([s2, s1])
    given(created, rotated('s2'), resealed(s2, s1)).when(reseal([])).then()
    // Rotated between the preparation of the command and its execution.
    on([created, rotated('s2')], reseal([['s1', '1.s1']])).then(resealed({ sealed: 's2', until: null }, s1))
    given().when(reseal(renewed)).then()
  })
  test('keeps its expiry when its successor is rotated', () => {
    const later: WebhookEvent = {
      type: 'WebhookSecretRotated',
      data: { secret: 's3', oldSecretUntil: '2026-11-22T18:00:00.000Z' },
    }
    expect(secretsAfter(rotated('s2'), later).map(({ sealed, until }) => [sealed, until])).toEqual([
      ['s3', null],
      ['s2', '2026-11-22T18:00:00.000Z'],
      ['s1', TOMORROW],
    ])
  })
})

describe('disabling', () => {
  test('keeps its reason until the webhook is made active again', () => {
    given(created).when(disable()).then(disabled)
    expect(given(created, disabled).state).toMatchObject({
      record: { active: false, disabledReason: 'gone' },
    })
    on([created, disabled], update({ active: true })).then(updated({ active: true }))
    expect(given(created, disabled, updated({ active: true })).state).toMatchObject({
      record: { active: true, disabledReason: null },
    })
  })
  test('applies only to the URL that caused it', () => {
    given(created).when(disable('https://example.com/before')).then()
    given(created, disabled).when(disable()).then()
  })
})

test('a rotated secret signs until its end, after its successor', () => {
  const keys = signingKeys(plainKey(Buffer.alloc(32)))
  const secrets = [
    { sealed: keys.seal(Buffer.from('new')), until: null },
    { sealed: keys.seal(Buffer.from('old')), until: '2026-11-22T10:00:00.000Z' },
  ]
  const valid = (now: string) => keys.valid(secrets, new Date(now)).map(key => key.export().toString())
  expect(valid('2026-11-22T09:59:59.999Z')).toEqual(['new', 'old'])
  expect(valid('2026-11-22T10:00:00.000Z')).toEqual(['new'])
})
