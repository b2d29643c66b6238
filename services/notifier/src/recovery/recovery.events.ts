import { PublicEvent, type RecoveryPlan, Refusal, subjects } from '@gantry/contracts'
import type { Bus, ReadOptions } from '@gantry/messaging'
import type { Deliveries } from '../delivery/deliveries.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import type { Running } from './recovery.ts'

type Range = Pick<Running, 'from' | 'to' | 'after' | 'through'>
type Reading = { bus: Bus } & Pick<ReadOptions, 'signal' | 'missed'>

/** Number of events whose deliveries one query counts. */
const BATCH = 500
/** Maximum number of events of a dry run, which its caller waits for. */
const MAX_PLANNED = 100_000

/** The events in a range that a webhook subscribes to, with their sequences on the bus. */
export async function* eventsIn(
  { from, to, after, through }: Range,
  target: WebhookDocument,
  { bus, ...reading }: Reading,
): AsyncGenerator<{ event: PublicEvent; sequence: number }> {
  const wanted = target.eventTypes.map(type => subjects.events('*', type))
  for await (const { data, sequence } of bus.read({ ...reading, subjects: wanted, after, live: false })) {
    if (sequence > through) return
    const event = PublicEvent.safeParse(data)
    // A webhook does not receive events about itself.
    if (!event.success || event.data.subject === target.id) continue
    if (event.data.time >= from && event.data.time <= to) yield { event: event.data, sequence }
  }
}

export async function countEvents(range: Range, target: WebhookDocument, reading: Reading): Promise<number> {
  let count = 0
  for await (const _ of eventsIn(range, target, reading)) count++
  return count
}

/**
 * What a recovery would do now.
 * @throws Refusal invalid-request for more than MAX_PLANNED events
 */
export async function planOf(
  range: Range,
  target: WebhookDocument,
  { deliveries, ...reading }: Reading & { deliveries: Deliveries },
): Promise<RecoveryPlan> {
  const plan = { examined: 0, toSend: 0 }
  let events: string[] = []
  const add = async () => {
    const unchanged = { webhook: target.id, eventId: { in: events }, status: { not: 'GIVE_UP' } }
    plan.examined += events.length
    if (plan.examined > MAX_PLANNED)
      throw new Refusal('invalid-request', {
        detail: `there are more than ${MAX_PLANNED} events in the range: ask for a shorter one`,
      })
    plan.toSend += events.length - (await deliveries.documents.count({ where: unchanged }))
    events = []
  }
  for await (const { event } of eventsIn(range, target, reading)) {
    events.push(event.id)
    if (events.length === BATCH) await add()
  }
  await add()
  return plan
}
