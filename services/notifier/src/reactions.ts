import { CloudEvent, isEventType, PublicEvent, Refusal, subjects } from '@gantry/contracts'
import {
  type Actor,
  AppendTooLarge,
  type CommandMetadata,
  LOG_POSITION,
  type Log,
  pastQuarantine,
  type Reaction,
} from '@gantry/event-sourcing'
import type { Message, StoredMessage } from '@gantry/messaging'
import { ReadModelsUnavailable } from '@gantry/stores'
import { z } from 'zod'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import type { Intake } from './platform-event/intake.ts'
import { COMMITTED_AT } from './public-events.ts'
import type { Owners } from './webhook/owners.ts'
import type { WebhookDocument } from './webhook/webhook.projection.ts'
import type { Webhooks } from './webhook/webhooks.ts'

export interface ReactionOptions {
  webhooks: Webhooks
  /** Tells whether the read models contain all webhooks. Before that, an event would not find its webhooks. */
  projector: { complete(): Promise<boolean> }
  dispatcher: Dispatcher
  owners: Owners
  receive: Intake
  newId(): string
  now(): Date
  log: Log
}

/** An event is not delivered to a webhook that was created more than this time after the event. */
const BEFORE_MS = 60_000
/** Number of webhooks whose deliveries of an event are created concurrently. */
const PAGE = 100

/** An event as it was committed. */
interface Committed {
  /** ISO 8601. */
  at: string
  /** Position in the log, if the message has one. */
  position: string | undefined
}

/**
 * Whether a webhook receives an event. After a loss of the bus or of the consumer position the whole log is published again,
 * and events from before the webhook must not be delivered. The tolerance covers differences between the clocks of
 * processes. The log decides where a clock was set back by more.
 */
const happenedAfter = async (
  { id, createdAt }: WebhookDocument,
  { at, position }: Committed,
  { webhooks }: ReactionOptions,
) =>
  Date.parse(at) >= Date.parse(createdAt) - BEFORE_MS ||
  (position !== undefined && (await webhooks.beganBefore(id, position)))

/** Subjects of the events that identity publishes about users. */
const OF_USERS: ReadonlySet<string> = new Set(
  ['USER_CREATED', 'USER_UPDATED', 'USER_DELETED'].map(type => subjects.events('identity', type)),
)
/** The beginning of the subjects of the events of the platform. */
const OF_PLATFORM = subjects.events('platform', '')

/**
 * Handles messages of the bus: creates the deliveries of public events, and turns events of the platform into public
 * events. Each event takes effect once, however often its message is received. Deliveries of a resource are created in the
 * order of its events, in which ordered webhooks receive them.
 */
export function reactionOf(options: ReactionOptions): Reaction {
  const { owners } = options
  const deliver = deliveringEvents(options)
  const receivePlatformEvent = receivingPlatformEvents(options)

  const react = async (message: StoredMessage) => {
    if (message.subject === subjects.platformEvents) return receivePlatformEvent(message)
    const type = typeOf(message)
    const isOfUser = OF_USERS.has(message.subject)
    if (!isEventType(type) && !isOfUser) return
    const event = PublicEvent.safeParse(message.data)
    if (!event.success) throw new Refusal('invalid-request', { detail: z.prettifyError(event.error) })
    if (isOfUser) return owners.userChanged(event.data)
    await deliver(event.data, message, () => true).catch(error => {
      // A retry would fail the same way and block all later messages; a refusal is final.
      throw error instanceof AppendTooLarge ? new Refusal('body-too-large') : error
    })
  }
  const early = async (message: Message) => {
    const event = PublicEvent.safeParse(message.data)
    if (!event.success || !isEventType(typeOf(message))) return false
    return deliver(event.data, message, ({ ordered }) => !ordered)
  }
  const keyOf = ({ subject, data, id }: StoredMessage) =>
    subject === subjects.platformEvents ? id : String((data as Partial<PublicEvent> | null)?.subject)
  return {
    consumer: 'notifier',
    subjects: [subjects.allEvents, subjects.platformEvents],
    react,
    early,
    keyOf,
  }
}

const typeOf = ({ subject }: Message) => subject.slice(subject.lastIndexOf('.') + 1)

/**
 * @returns a function that creates the deliveries of an event to those webhooks that ask for its type and are included. It
 * returns whether all of them are.
 */
function deliveringEvents(options: ReactionOptions) {
  const { webhooks, projector, dispatcher, log } = options
  return async (
    event: PublicEvent,
    message: Message,
    includes: (webhook: WebhookDocument) => boolean,
  ): Promise<boolean> => {
    const { id, type, time, subject } = event
    // For events of the platform `time` is the time that the producer states, not the time of the commit.
    const ofPlatform = message.subject.startsWith(OF_PLATFORM)
    const committedAt = ofPlatform ? (message.headers?.[COMMITTED_AT] ?? time) : time
    const committed = { at: committedAt, position: message.headers?.[LOG_POSITION] }
    const commanded = { actor: { id: null, name: 'notifier' }, requestId: event.requestId, causationId: id }
    let isComplete = true
    for (let after = ''; ; ) {
      const where = { active: true, eventTypes: type, id: { gt: after } }
      const targets = await webhooks.documents.list({ where, limit: PAGE })
      if (!(await projector.complete())) throw new ReadModelsUnavailable('the webhooks are missing')
      await dispatcher.ready()
      const included = targets.filter(({ doc }) => includes(doc))
      if (included.length < targets.length) isComplete = false
      await Promise.all(
        included.map(async ({ doc }) => {
          // A webhook does not receive events about itself, e.g. that it is failing.
          if (doc.id === subject || !(await happenedAfter(doc, committed, options))) return
          // A new command id each time: event ids derive from it, so with equal ids two processes that handle the event
          // at once would both regard the append, and thus the attempt, as their own.
          const metadata = metadataOf(options, message, commanded)
          // A quarantined delivery exists already. It must not keep the other webhooks from receiving the event.
          await dispatcher.deliver(doc, event, { metadata, committedAt }).catch(pastQuarantine(log))
        }),
      )
      if (targets.length < PAGE) return isComplete
      after = targets.at(-1)?.doc.id ?? after
    }
  }
}

/** @returns a function that stores an event of the platform; an invalid one is logged */
function receivingPlatformEvents(options: ReactionOptions) {
  const { receive, log } = options
  return async (message: StoredMessage): Promise<void> => {
    const refused = (reason: string) =>
      log.warn({ message: message.id, reason }, 'an event of the platform is not a valid CloudEvent')
    const parsed = CloudEvent.safeParse(message.data)
    if (!parsed.success) return refused(z.prettifyError(parsed.error))
    const commanded = { actor: { id: null, name: parsed.data.source }, requestId: message.id }
    await receive(parsed.data, metadataOf(options, message, commanded)).catch(error => {
      if (!(error instanceof Refusal) || error.code !== 'invalid-request') throw error
      refused(String(error.details?.detail))
    })
  }
}

/** Metadata of a command that a message causes. */
const metadataOf = (
  { newId, now }: ReactionOptions,
  { headers }: Message,
  commanded: { actor: Actor; requestId: string; causationId?: string },
): CommandMetadata => ({
  commandId: newId(),
  now: now().toISOString(),
  ...commanded,
  ...(headers?.traceparent && { traceparent: headers.traceparent }),
})
