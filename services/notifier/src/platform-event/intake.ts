import type { CloudEvent } from '@gantry/contracts'
import {
  type Aggregate,
  type CommandMetadata,
  type EventStore,
  Refusal,
  streamName,
} from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import { tell } from '@gantry/service-kit'
import { publicEvents } from '../public-events.ts'
import {
  type PlatformEventCommand,
  type PlatformEventEvent,
  type PlatformEventState,
  platformEventId,
} from './platform-event.ts'

export interface IntakeOptions {
  platformEvent: Aggregate<PlatformEventState, PlatformEventCommand, PlatformEventEvent>
  eventStore: EventStore
  bus: Bus
}

export interface Receipt {
  /** Of the public event. */
  id: string
  /** When it was taken in, ISO 8601 UTC. */
  receivedAt: string
  duplicate: boolean
}

/** @throws Refusal invalid-request when the time of the event is before 1970 or more than a day ahead */
export type Intake = (event: CloudEvent, metadata: CommandMetadata) => Promise<Receipt>

const DAY_MS = 86_400_000
/** What the filters of the catalog are made of. */
const OF_CATALOG = new Set(['PRODUCT_API_ADDED', 'PRODUCT_API_REMOVED'])

/** Takes in events of the platform, each once, and tells the catalog at once of those that its filters need. */
export function intake({ platformEvent, eventStore, bus }: IntakeOptions): Intake {
  return async (event, metadata) => {
    checkTime(event, metadata.now)
    const id = platformEventId(event)
    const { facts } = await platformEvent.execute(id, { type: 'ReceivePlatformEvent', metadata, event })
    if (OF_CATALOG.has(event.type)) {
      for (const message of facts.flatMap(publicEvents)) await tell(bus, 'catalog', message)
    }
    const [fact] = facts.length > 0 ? facts : await eventStore.readStream(streamName('platformevent', id))
    if (!fact) throw new Error(`the platform event ${id} is neither new nor stored`)
    return { id: fact.id, receivedAt: fact.metadata.at, duplicate: facts.length === 0 }
  }
}

/** Clocks of producers may be wrong by up to a day; another time is a fault of the producer. */
function checkTime({ time }: CloudEvent, now: string): void {
  if (!time) return
  const happened = Date.parse(time)
  if (happened >= 0 && happened <= Date.parse(now) + DAY_MS) return
  const message = 'must not be before 1970 nor more than 24 hours ahead'
  throw new Refusal('invalid-request', { detail: `time ${message}`, errors: [{ field: 'time', message }] })
}
