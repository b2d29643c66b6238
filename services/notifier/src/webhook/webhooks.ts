import { Refusal } from '@gantry/contracts'
import { aggregate, atMost, type EventStore, type Position, streamName } from '@gantry/event-sourcing'
import { LRUCache } from 'lru-cache'
import type { Cidr } from '../http/address.ts'
import { Repository, type RepositoryOptions } from '../repository.ts'
import { type WebhookCommand, webhookDecider } from './webhook.decide.ts'
import { projectWebhook, type WebhookDocument, webhooks } from './webhook.projection.ts'
import type { WebhookEvent, WebhookState } from './webhook.ts'

export class Webhooks extends Repository<WebhookState, WebhookCommand, WebhookEvent, WebhookDocument> {
  readonly #eventStore: EventStore
  /** The position of the creation by webhook. */
  readonly #beginnings = new LRUCache<string, Position>(atMost(10_000))
  /** The last command of `counted` by owner. */
  readonly #counted = new Map<string, Promise<unknown>>()

  /**
   * @param allowed private networks that webhooks may reach
   * @param mostPerOwner maximum number of webhooks of an owner; 0 for no limit
   */
  constructor(options: RepositoryOptions, allowed: readonly Cidr[], mostPerOwner: number) {
    const { eventStore, readModels, projector, unknownEvent } = options
    const decider = webhookDecider(allowed, mostPerOwner)
    const view = { projector, project: projectWebhook }
    super(
      aggregate({ eventStore, unknownEvent, category: 'webhook', decider, view }),
      readModels.collection(webhooks),
      options,
    )
    this.#eventStore = eventStore
  }

  /**
   * Executes a command that may give the owner a webhook, with the number of webhooks that the owner has. Commands for
   * one owner run one after the other, so that no two of this process start from the same number. Each further process
   * may exceed the limit by one.
   */
  counted<T>(owner: string, execute: (owned: number) => Promise<T>): Promise<T> {
    const before = this.#counted.get(owner)
    const executed = (async () => {
      await before?.catch(() => {})
      return execute(await this.documents.count({ where: { owner } }))
    })()
    this.#counted.set(owner, executed)
    const end = () => void (this.#counted.get(owner) === executed && this.#counted.delete(owner))
    executed.then(end, end)
    return executed
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
