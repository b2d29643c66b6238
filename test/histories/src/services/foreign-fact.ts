import { type PublicEvent, subjects } from '@gantry/contracts'
import { nameUuids } from '@gantry/event-sourcing'
import type { Json, Message } from '@gantry/messaging'

const uuid = nameUuids('0d3cde5a-1c27-4c0e-9a0a-6f0d2b7a5c11')

/** A public event of another service. The same arguments give the same id. */
export function foreignFact(
  source: string,
  type: string,
  { subject, revision, data = {} }: { subject: string; revision: number; data?: Record<string, unknown> },
): Message {
  const event: PublicEvent = {
    id: uuid(`${type}/${subject}/${revision}/${JSON.stringify(data)}`),
    type,
    source,
    subject,
    revision,
    time: new Date().toISOString(),
    data,
    actor: { id: null, name: source },
    requestId: `${type}-${revision}`,
  }
  return { id: event.id, subject: subjects.events(source, type), data: event as unknown as Json }
}

/** A UUID derived from a name. */
export const idNamed = (name: string) => uuid(name)
