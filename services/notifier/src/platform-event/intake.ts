import { type CloudEvent, invalidField, publishEvent } from '@gantry/contracts'
import { aggregate, type CommandMetadata, streamName } from '@gantry/event-sourcing'
import { type AddRoute, type Instrumented, sendDirectly } from '@gantry/service-runtime'
import { publicEvents } from '../public-events.ts'
import { platformEventDecider, platformEventId } from './platform-event.ts'

export type IntakeOptions = Pick<Instrumented, 'eventStore' | 'unknownEvent' | 'process'>

interface Receipt {
  /** Id of the public event. */
  id: string
  /** When the notifier stored the event, ISO 8601 UTC. */
  receivedAt: string
  duplicate: boolean
}

/**
 * Stores an event of the platform unless it was stored before.
 * @throws Refusal invalid-request when the time of the event is before 1970 or more than a day ahead
 */
export type Intake = (event: CloudEvent, metadata: CommandMetadata) => Promise<Receipt>

const DAY_MS = 86_400_000
/** Event types that filters of the catalog depend on. */
const OF_CATALOG = new Set(['PRODUCT_API_ADDED', 'PRODUCT_API_REMOVED'])

/**
 * Stores each event of the platform once. Sends those that filters of the catalog depend on to the catalog before it
 * returns.
 */
export function intake(options: IntakeOptions): Intake {
  const { eventStore, process } = options
  const platformEvent = aggregate({ ...options, category: 'platformevent', decider: platformEventDecider })
  return async (event, metadata) => {
    checkTime(event, metadata.now)
    const id = platformEventId(event)
    const { facts } = await platformEvent.execute(id, { type: 'ReceivePlatformEvent', metadata, event })
    if (OF_CATALOG.has(event.type)) {
      for (const message of facts.flatMap(publicEvents)) await sendDirectly(process.peers, 'catalog', message)
    }
    const [fact] = facts.length > 0 ? facts : await eventStore.readStream(streamName('platformevent', id))
    if (!fact) throw new Error(`the platform event ${id} is neither new nor stored`)
    return { id: fact.id, receivedAt: fact.metadata.at, duplicate: facts.length === 0 }
  }
}

/** Allows clocks of producers to be up to a day ahead. */
function checkTime({ time }: CloudEvent, now: string): void {
  if (!time) return
  const happened = Date.parse(time)
  if (happened >= 0 && happened <= Date.parse(now) + DAY_MS) return
  throw invalidField('time', 'must not be before 1970 nor more than 24 hours ahead')
}

export function platformEventRoutes(route: AddRoute, receive: Intake): void {
  route(publishEvent, async ({ body, metadata }) => {
    const { source, type } = body
    const { id, receivedAt, duplicate } = await receive(body, metadata)
    return { status: 202, body: { id, source, type, receivedAt, duplicate } }
  })
}
