import { setTimeout } from 'node:timers/promises'
import {
  createWebhook,
  deleteWebhook,
  EVENT_TYPES,
  type EventType,
  type EventTypeRecord,
  getWebhook,
  jsonSchemaOf,
  listEventTypes,
  listWebhooks,
  mayReadEvent,
  type Principal,
  Refusal,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookHealth,
  type WebhookRecord,
  type WebhookUpdate,
} from '@gantry/contracts'
import type { StreamState } from '@gantry/event-sourcing'
import { type AddRoute, formatSecret, listing, type Moments, page } from '@gantry/service-runtime'
import { z } from 'zod'
import { type Standing, unreadTypes } from '../user/standing.ts'
import type { Owners } from './owners.ts'
import type { SigningKeys } from './signing.ts'
import type { WebhookCommand } from './webhook.decide.ts'
import { documentOf, type RevisedWebhook, type WebhookDocument } from './webhook.projection.ts'
import { shownUrl, type WebhookState } from './webhook.ts'
import type { Webhooks } from './webhooks.ts'

const payloadOf = (type: EventType) =>
  z.object({
    id: z.uuid().meta({ description: 'Id of the event' }),
    type: z.literal(type),
    timestamp: z.iso.datetime().meta({ description: 'When it happened', format: 'date-time' }),
    data: EVENT_TYPES[type].data,
  })

/** The catalog of event types, each with a JSON Schema and an example of the payload. */
const eventTypes: z.infer<typeof EventTypeRecord>[] = (Object.keys(EVENT_TYPES) as EventType[]).map(name => ({
  name,
  description: EVENT_TYPES[name].description,
  scope: EVENT_TYPES[name].scope,
  schema: jsonSchemaOf(payloadOf(name)),
  example: {
    id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
    type: name,
    timestamp: '2026-11-21T09:30:00.000Z',
    data: EVENT_TYPES[name].example,
  },
}))

export interface WebhookRoutes {
  webhooks: Webhooks
  records: Moments<RevisedWebhook>
  owners: Owners
  keys: SigningKeys
  healths: {
    of(webhook: WebhookDocument): Promise<WebhookHealth>
    /** Of the webhooks of a page; may be a second old. */
    ofAll(webhooks: readonly WebhookDocument[]): Promise<WebhookHealth[]>
  }
  now(): Date
  deliveries: {
    /** The event type of a pending delivery of the webhook, if one has any of these types. */
    pendingType(webhook: string, types: readonly string[]): Promise<string | undefined>
  }
  dispatcher: {
    /** To be called after an update of a webhook: it may have become active, or have another URL. */
    webhookChanged(id: string): void
    /** Cancels the pending deliveries of a deleted webhook. */
    abandon(webhook: string): Promise<void>
  }
}

const SECRET_BYTES = 24
/**
 * Maximum time that the response to a deletion waits until the pending deliveries are cancelled; the scheduler cancels
 * the rest.
 */
const ABANDON_MS = 2_000
/** Maximum time that the response to a change waits for the health. Reading it takes milliseconds. */
const HEALTH_MS = 1_000
/** The health of a webhook without attempts. */
const UNTRIED: WebhookHealth = {
  attempts: 0,
  successRate: null,
  p95LatencyMs: null,
  consecutiveFailures: 0,
  failingSince: null,
  circuit: 'CLOSED',
  pausedUntil: null,
}

export function webhookRoutes(route: AddRoute, options: WebhookRoutes): void {
  const { webhooks, records, owners, keys, healths, now, dispatcher } = options

  route(listEventTypes, async () => ({ status: 200, body: eventTypes }))

  route(listWebhooks, async ({ query, principal }) => {
    const moment = await records.at(query.at)
    const { items, total } = await moment.find(listing(query))
    const documents = items.map(({ doc }) => doc)
    const found = query.at === undefined ? await healths.ofAll(documents.filter(isCurrent)) : []
    const content = documents.map((doc, place) =>
      record(doc, { health: found[place] ?? null, now: now(), reader: principal }),
    )
    return { status: 200, body: page(content, total, query) }
  })

  route(getWebhook, async ({ params, query, principal: reader }) => {
    const stored = await (await records.at(query.at, params.webhook_id)).get(params.webhook_id)
    if (!stored) throw new Refusal('webhook-not-found')
    const { doc } = stored
    const health = isCurrent(doc) ? await healths.of(doc) : null
    return { status: 200, ...answer(doc, { health, now: now(), reader }) }
  })

  route(createWebhook, async ({ body, creationMetadata: metadata, principal: by, newId, secretBytes }) => {
    const id = newId()
    const secret = secretBytes(SECRET_BYTES)
    const sealedSecret = keys.seal(secret)
    const command = { type: 'CreateWebhook' as const, metadata, by, id, input: body, sealedSecret }
    const executed = await webhooks.counted(by.userId, owned => webhooks.execute(id, { ...command, owned }))
    await checkOwner(executed.state)
    const { body: created, ...tag } = answer(liveOf(executed), { health: UNTRIED, now: now(), reader: by })
    const shown = { ...created, secret: formatSecret(secret) }
    return { status: 201, body: shown, ...tag, location: `/webhooks/${id}` }
  })

  route(updateWebhook, async ({ params, body: input, metadata, principal: by, ifMatch }) => {
    const id = params.webhook_id
    const owner = (await webhooks.documents.get(id))?.doc.owner
    const standing = await standingOfOwner(owners, owner, input, by)
    const pending = await unreadPendingOf(options, id, by, standing)
    const command = { type: 'UpdateWebhook' as const, metadata, ifMatch, by, input, pending, standing }
    const next = input.owner ?? owner
    const executed =
      next && next !== owner
        ? await webhooks.counted(next, owned => webhooks.execute(id, { ...command, owned }))
        : await webhooks.execute(id, command)
    if (executed.events.length > 0) dispatcher.webhookChanged(id)
    await checkOwner(executed.state)
    return { status: 200, ...(await current(executed, by)) }
  })

  route(rotateWebhookSecret, async ({ params, metadata, secretBytes, principal: by }) => {
    const secret = secretBytes(SECRET_BYTES)
    const command: WebhookCommand = { type: 'RotateSecret', metadata, by, sealedSecret: keys.seal(secret) }
    const { body } = await current(await webhooks.execute(params.webhook_id, command), by)
    return { status: 200, body: { ...body, secret: formatSecret(secret) } }
  })

  route(deleteWebhook, async ({ params, metadata, ifMatch, principal: by }) => {
    const id = params.webhook_id
    await webhooks.execute(id, { type: 'DeleteWebhook', metadata, by, ifMatch })
    await Promise.race([dispatcher.abandon(id).catch(() => {}), setTimeout(ABANDON_MS)])
    return { status: 204 }
  })

  const current = (executed: StreamState<WebhookState>, by: Principal) =>
    changed(options, liveOf(executed), by)

  /**
   * The owner may lose a scope during the command, and the check of the user's webhooks then misses the change. After a
   * failure here a later periodic check makes up for it.
   */
  const checkOwner = async (state: WebhookState) => {
    if (state.status === 'Live') await owners.check(state.record).catch(() => {})
  }
}

/**
 * Role and status of the owner after the update. A new owner other than the caller is read from identity, because it must
 * be active.
 */
async function standingOfOwner(
  owners: Owners,
  current: string | null | undefined,
  { owner, events, eventTypes }: WebhookUpdate,
  by: Principal,
): Promise<Standing | undefined> {
  const next = owner ?? current
  if (!next) return undefined
  if (next === by.userId) return { user: next, status: 'ACTIVE', role: by.role }
  return next === current ? owners.standing(next, events ?? eventTypes ?? []) : owners.request(next)
}

/** At most two event types of pending deliveries: one that the caller may not read, and one that the owner may not read. */
async function unreadPendingOf(
  { deliveries }: WebhookRoutes,
  id: string,
  { scopes }: Principal,
  owner: Standing | undefined,
): Promise<string[]> {
  const types = Object.keys(EVENT_TYPES)
  const ofCaller = types.filter(type => !mayReadEvent(scopes, type))
  const ofOwner = owner ? unreadTypes(owner, types) : []
  const unread = [ofCaller, ofOwner].filter(each => each.length > 0)
  const found = await Promise.all(unread.map(each => deliveries.pendingType(id, each)))
  return found.filter(type => type !== undefined)
}

/** Whether it is the document of the webhook as it is now, not as it was at a time. */
const isCurrent = (doc: RevisedWebhook & Partial<WebhookDocument>): doc is WebhookDocument =>
  doc.secrets !== undefined

interface Shown {
  health: WebhookHealth | null
  now: Date
  reader: Principal
}

function record(
  { recordRevision, secrets, failingSince, ...fields }: RevisedWebhook & Partial<WebhookDocument>,
  { health, now, reader }: Shown,
): WebhookRecord {
  const url = shownUrl(fields.url, reader, fields.eventTypes)
  return { ...fields, url, health, oldSecretValidUntil: oldSecretValidUntil(secrets ?? [], now) }
}

/** The end of the last old secret that still signs; null when there is none. */
function oldSecretValidUntil(secrets: WebhookDocument['secrets'], now: Date): string | null {
  const ends = secrets.map(({ until }) => until).filter(until => until !== null)
  return (
    ends
      .filter(until => until > now.toISOString())
      .toSorted()
      .at(-1) ?? null
  )
}

/** The ETag covers the parts of the record that its revision does not cover, if there are any. */
function answer(doc: RevisedWebhook & Partial<WebhookDocument>, shown: Shown) {
  const body = record(doc, shown)
  const { url, health, oldSecretValidUntil } = body
  const varies = health?.attempts || oldSecretValidUntil || url !== doc.url
  const variant = varies ? JSON.stringify([url, health, oldSecretValidUntil]) : null
  return { body, revision: doc.recordRevision, variant }
}

/**
 * The answer to a change. The health is null if it cannot be read in time: the change is committed, and a new secret is only
 * in this answer.
 */
async function changed(
  { healths, now }: Pick<WebhookRoutes, 'healths' | 'now'>,
  doc: WebhookDocument,
  reader: Principal,
) {
  const read = healths.of(doc).catch(() => null)
  const health = await Promise.race([read, setTimeout(HEALTH_MS, null, { ref: false })])
  return answer(doc, { health, now: now(), reader })
}

function liveOf({ state }: StreamState<WebhookState>): WebhookDocument {
  if (state.status !== 'Live') throw new Refusal('webhook-not-found')
  return documentOf(state)
}
