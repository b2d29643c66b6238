import type { Change, CloudEvent, PlatformEventType } from '@gantry/contracts'
import { type CommandMetadata, type Decider, nameUuids } from '@gantry/event-sourcing'

/** An event of the platform as its producer sent it. */
export interface Received {
  source: string
  id: string
  type: PlatformEventType
  /** Subject of the event as the producer names it. */
  subject: string | null
  /** When the event happened, ISO 8601 UTC. The time of receipt if the producer states no time or a future one. */
  time: string
  data: Record<string, unknown>
}

export type PlatformEventEvent = { type: 'PlatformEventReceived'; data: Received }
export type PlatformEventCommand = {
  type: 'ReceivePlatformEvent'
  metadata: CommandMetadata
  event: CloudEvent
}
export type PlatformEventState = { status: 'Absent' } | { status: 'Received' }

const eventUuid = nameUuids('0b9a4e54-3f3c-4f5e-8d5b-6a1f2d8c7e90')

/** Id of the stream of an event. In CloudEvents 1.0 source and id together identify an event ("id", "Constraints"). */
export const platformEventId = ({ source, id }: Pick<CloudEvent, 'source' | 'id'>) =>
  eventUuid(JSON.stringify([source, id]))

export const platformEventDecider: Decider<PlatformEventState, PlatformEventCommand, PlatformEventEvent> = {
  initial: { status: 'Absent' },
  events: { PlatformEventReceived: [] },
  evolve: () => ({ status: 'Received' }),
  decide(state, { event, metadata: { now } }) {
    if (state.status === 'Received') return []
    const { source, id, type, subject, data } = event
    const happened = event.time ? new Date(event.time).toISOString() : now
    const time = happened < now ? happened : now
    return [
      { type: 'PlatformEventReceived', data: { source, id, type, subject: subject ?? null, time, data } },
    ]
  },
  describe(_, { data }): Change {
    return {
      action: data.type,
      resourceType: 'PLATFORM_EVENT',
      resourceId: platformEventId(data),
      before: null,
      after: data,
    }
  },
}
