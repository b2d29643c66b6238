import { Refusal } from '@gantry/contracts'
import { aggregate, type EventStore, type Position, streamName } from '@gantry/event-sourcing'
import type { Cidr } from '../http/address.ts'
import { Repository, type RepositoryOptions } from '../repository.ts'
import { type WebhookCommand, webhookDecider } from './webhook.decide.ts'
import { projectWebhook, type WebhookDocument, webhooks } from './webhook.projection.ts'
import type { WebhookEvent, WebhookState } from './webhook.ts'

/** The webhooks with their documents. */
export class Webhooks extends Repository<WebhookState, WebhookCommand, WebhookEvent, WebhookDocument> {
  readonly #eventStore: EventStore
  readonly #beginnings = new Map<string, Position>()

  /** @param allowed private networks that webhooks may reach */
  constructor(options: RepositoryOptions, allowed: readonly Cidr[]) {
    const { eventStore, readModels, projector, unknownEvent } = options
    const decider = webhookDecider(allowed)
    const view = { projector, project: projectWebhook }
    super(
      aggregate({ eventStore, unknownEvent, category: 'webhook', decider, view }),
      readModels.collection(webhooks),
      options,
    )
    this.#eventStore = eventStore
  }

  /** Whether the log has the creation of a webhook before a position. */
  async beganBefore(id: string, position: Position): Promise<boolean> {
    const known = this.#beginnings.get(id)
    if (known !== undefined) return known < position
    const [first] = await this.#eventStore.readStream(streamName('webhook', id))
    if (first) this.#beginnings.set(id, first.position)
    return first !== undefined && first.position < position
  }

  /** @throws Refusal webhook-not-found */
  async existing(id: string): Promise<WebhookDocument> {
    const stored = await this.documents.get(id)
    if (!stored) throw new Refusal('webhook-not-found')
    return stored.doc
  }

  /** Whether the webhook was deleted, which only the log tells from a webhook that is not projected yet. */
  async isDeleted(id: string): Promise<boolean> {
    return (await this.load(id)).state.status === 'Deleted'
  }
}
