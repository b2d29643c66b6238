import type { Attempt, PublicEvent } from '@gantry/contracts'
import { aggregate, type CommandMetadata, type Executed, nameUuids } from '@gantry/event-sourcing'
import { Repository, type RepositoryOptions } from '../repository.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import {
  type DeliveryCommand,
  type DeliveryRules,
  deliveryDecider,
  expired,
  isTooOld,
} from './delivery.decide.ts'
import { type DeliveryDocument, deliveries, pendingOf, projectDelivery } from './delivery.projection.ts'
import type { DeliveryEvent, DeliveryState } from './delivery.ts'
import { Payloads } from './payloads.ts'

/** Number of cached delivery states. The outcome of an attempt needs the state again soon after the claim. */
const CACHED_STATES = 2_000

/** Maximum number of deliveries in a list of running attempts. */
const MOST_RUNNING = 1_000

const OUTCOME = ['url', 'startedAt', 'durationMs', 'error', 'fault'] as const
export type AttemptOutcome = Pick<Attempt, (typeof OUTCOME)[number]>

export class Deliveries extends Repository<DeliveryState, DeliveryCommand, DeliveryEvent, DeliveryDocument> {
  readonly payloads: Payloads
  readonly #rules: DeliveryRules
  readonly #now: () => Date

  /** @param publicUrl the address of the service for its clients, if it is known */
  constructor(options: RepositoryOptions, rules: DeliveryRules, publicUrl?: string) {
    const { eventStore, readModels, projector, unknownEvent, now } = options
    const project = projectDelivery(state => expired(state, rules, now().toISOString()))
    super(
      aggregate({
        eventStore,
        unknownEvent,
        category: 'delivery',
        decider: deliveryDecider(rules),
        view: { projector, project },
        cacheSize: CACHED_STATES,
      }),
      readModels.collection(deliveries),
      options,
    )
    this.payloads = new Payloads({ eventStore, now, publicUrl })
    this.#rules = rules
    this.#now = now
  }

  /** Creates the delivery of an event unless it exists, and stores the body of the event before. @throws AppendTooLarge */
  async create(
    command: Extract<DeliveryCommand, { type: 'CreateDelivery' }>,
    event: PublicEvent,
  ): Promise<Executed<DeliveryState, DeliveryEvent>> {
    if (isTooOld(command, this.#rules)) return this.execute(command.id, command)
    const { format } = command
    const stored = this.payloads.store(event, format)
    if (!this.payloads.isSmall(event.id, format)) await stored
    // Both appends share a commit or a round trip. An attempt is made when both are done. If the process dies in between,
    // the event is handled again, and stores the body, before the claimed attempt counts as lost.
    const storedInTheEnd = stored.catch(() => this.payloads.store(event, format))
    const [executed] = await Promise.all([this.execute(command.id, command), storedInTheEnd])
    return executed
  }

  /** The first pending deliveries of a webhook, in the order of the field `queue`. */
  async pendingOf(webhook: string, limit: number): Promise<DeliveryDocument[]> {
    const found = await this.documents.list({
      where: { queue: pendingOf(webhook) },
      sort: [{ field: 'queue', direction: 'asc' }],
      limit,
    })
    return found.map(({ doc }) => doc)
  }

  /** The outcomes of attempts of a webhook, by delivery: of the deliveries with the latest attempts, the latest first. */
  async outcomes(webhook: string, limit: number): Promise<AttemptOutcome[][]> {
    const found = await this.documents.list({
      where: { webhook },
      sort: [{ field: 'lastAttemptAt', direction: 'desc' }],
      // Not the payload, and not the responses.
      parts: OUTCOME.map(field => `attemptLog.${field}`),
      limit,
    })
    return found.map(({ doc }) => doc.attemptLog)
  }

  /** Ids of pending deliveries whose last attempt started between two times, ISO 8601, and has no outcome. */
  async running(from: string, before: string): Promise<string[]> {
    const found = await this.documents.list({
      where: { queue: { gt: '' }, lastAttemptAt: { gte: from, lt: before } },
      sort: [{ field: 'lastAttemptAt', direction: 'desc' }],
      limit: MOST_RUNNING,
    })
    return found.filter(({ doc }) => doc.attemptLog.at(-1)?.durationMs === null).map(({ doc }) => doc.id)
  }

  countPending(): Promise<number> {
    return this.documents.count({ where: { queue: { gt: '' } } })
  }

  countPendingOf(webhook: string): Promise<number> {
    return this.documents.count({ where: { queue: pendingOf(webhook) } })
  }

  /** How long the most overdue delivery has been due, in milliseconds; 0 when none is due. */
  async overdueMs(): Promise<number> {
    const time = this.#now()
    const [oldest] = await this.documents.list({
      where: { nextAttemptAt: { lte: time.toISOString() } },
      sort: [{ field: 'nextAttemptAt', direction: 'asc' }],
      limit: 1,
    })
    return oldest?.doc.nextAttemptAt ? time.getTime() - Date.parse(oldest.doc.nextAttemptAt) : 0
  }

  /** The event type of a pending delivery of the webhook, if one has any of these types. */
  async pendingType(webhook: string, types: readonly string[]): Promise<string | undefined> {
    const where = { queue: pendingOf(webhook), eventType: { in: types } }
    const [found] = await this.documents.list({ where, limit: 1 })
    return found?.doc.eventType
  }
}

const deliveryUuid = nameUuids('9f0c6b0e-2f53-4a55-8a5e-6d1c0d0b7b1e')

/**
 * Id of the delivery of an event to a webhook. It is deterministic, so that an event that is handled twice creates one
 * delivery.
 */
export const deliveryId = (eventId: string, webhookId: string) => deliveryUuid(`${eventId}/${webhookId}`)

/** What a delivery is created for. */
export interface Occasion {
  metadata: CommandMetadata
  /** When the event was committed, ISO 8601; left out for a test. */
  committedAt?: string
  /** Id of the recovery that creates the delivery; its attempts then count as retries in the concurrency limits. */
  recovery?: string
}

/** Creates deliveries and has their attempts made. */
export interface Dispatch {
  /**
   * Creates the delivery of an event unless it exists. Its first attempt starts at once if there is a slot. The deliveries
   * of a resource to an ordered webhook are made in the order of their creation.
   */
  deliver(
    webhook: WebhookDocument,
    event: PublicEvent,
    occasion: Occasion,
  ): Promise<Executed<DeliveryState, DeliveryEvent>>
  /** To be called after a user's command made a delivery due or finished it. */
  changed(state: DeliveryState): void
}
