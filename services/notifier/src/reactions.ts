import { CloudEvent, isEventType, PublicEvent, subjects } from '@gantry/contracts'
import {
  AppendTooLarge,
  type CommandMetadata,
  type Log,
  pastQuarantine,
  Refusal,
} from '@gantry/event-sourcing'
import type { Message, StoredMessage } from '@gantry/messaging'
import { type Collection, ReadModelsUnavailable } from '@gantry/read-models'
import { z } from 'zod'
import { bodyOf, deliveryId } from './delivery/occasion.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import { inOrder } from './in-order.ts'
import { isAboutUser, type Owners } from './owner/owners.ts'
import type { Intake } from './platform-event/intake.ts'
import { COMMITTED_AT } from './public-events.ts'
import type { WebhookDocument } from './webhook/webhook.projection.ts'

/** What the notifier listens to. */
export const reactsTo = [subjects.allEvents, subjects.platformEvents]

export interface Reacting {
  webhooks: Collection<WebhookDocument>
  /** Whether the webhooks are there: while they are missing, an event would find none. */
  complete(): Promise<boolean>
  dispatcher: Dispatcher
  receive: Intake
  owners: Owners
  newId(): string
  now(): Date
  log: Log
}

/** How long before a webhook was made an event may have happened that it is told of. */
const BEFORE_MS = 60_000
/** Webhooks that are told of an event at a time. */
const PAGE = 100

/**
 * Whether a webhook is to be told of what happened then. When the bus or its position was lost, the whole log is told
 * again: what was long before a webhook was made is none of its business. Times of different processes may differ a little.
 */
const isOwed = ({ createdAt }: WebhookDocument, time: string) =>
  Date.parse(time) >= Date.parse(createdAt) - BEFORE_MS

/** Public events become deliveries, events of the platform become public events; each once, however often it comes. */
export function reactionsOf(options: Reacting): (message: StoredMessage) => Promise<void> {
  const { webhooks, complete, dispatcher, receive, owners, newId, now, log } = options
  // Deliveries of a resource are made in the order of its events, which is the order that ordered webhooks get.
  const inTurn = inOrder()

  const deliver = async (event: PublicEvent, message: StoredMessage) => {
    const { id, type, time, data, subject } = event
    const metadata = (): CommandMetadata => ({
      // Never the same twice: two that handle the event at once must not both believe that they made the delivery.
      commandId: newId(),
      now: now().toISOString(),
      actor: { id: null, name: 'notifier' },
      requestId: event.requestId,
      causationId: id,
      ...(message.headers?.traceparent && { traceparent: message.headers.traceparent }),
    })
    // What an event of the platform says is when it happened, according to its producer.
    const ofPlatform = message.subject.startsWith(subjects.events('platform', ''))
    const committedAt = ofPlatform ? (message.headers?.[COMMITTED_AT] ?? message.storedAt) : time
    const body = bodyOf({ id, type, timestamp: time, data })
    for (let after = ''; ; ) {
      const where = { active: true, eventTypes: type, id: { gt: after } }
      const targets = await webhooks.list({ where, limit: PAGE })
      if (!(await complete())) throw new ReadModelsUnavailable('the webhooks are missing')
      const owed = targets.filter(({ doc }) => isOwed(doc, committedAt))
      await dispatcher.ready()
      await Promise.all(
        owed.map(async ({ doc }) => {
          // That it fails is nothing to tell itself.
          if (doc.id === subject) return
          const made = {
            id: deliveryId(id, doc.id),
            eventId: id,
            eventType: type,
            body,
            committedAt,
            resource: subject,
          }
          // A quarantined delivery exists already, and must not keep the event from the other webhooks.
          await dispatcher.deliver(doc, made, metadata()).catch(pastQuarantine(log))
        }),
      )
      if (targets.length < PAGE) return
      after = targets.at(-1)?.doc.id ?? after
    }
  }

  const refused = (message: Message, reason: string) =>
    log.warn({ message: message.id, reason }, 'an event of the platform is not a valid CloudEvent')

  const takeIn = async (message: Message) => {
    const parsed = CloudEvent.safeParse(message.data)
    if (!parsed.success) return refused(message, z.prettifyError(parsed.error))
    await receive(parsed.data, {
      commandId: newId(),
      now: now().toISOString(),
      actor: { id: null, name: parsed.data.source },
      requestId: message.id,
      ...(message.headers?.traceparent && { traceparent: message.headers.traceparent }),
    }).catch(error => {
      if (!(error instanceof Refusal) || error.code !== 'invalid-request') throw error
      refused(message, String(error.details?.detail))
    })
  }

  return async message => {
    if (message.subject === subjects.platformEvents) return takeIn(message)
    const type = message.subject.slice(message.subject.lastIndexOf('.') + 1)
    const isOfUser = isAboutUser(type) && message.subject === subjects.events('identity', type)
    if (!isEventType(type) && !isOfUser) return
    const event = PublicEvent.safeParse(message.data)
    if (!event.success) throw new Refusal('invalid-request', { detail: z.prettifyError(event.error) })
    if (isOfUser) return inTurn(event.data.subject, message.sequence, () => owners.heard(event.data))
    await inTurn(event.data.subject, message.sequence, () =>
      deliver(event.data, message).catch(error => {
        // It would be too large the next time as well, and hold up what comes after it for ever.
        throw error instanceof AppendTooLarge ? new Refusal('body-too-large') : error
      }),
    )
  }
}
