import type { Bus, Message } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'
import { type Fact, type Position, START } from './event.ts'
import type { EventStore } from './event-store.ts'
import { type Log, supervise, underLease, type Worker } from './follower.ts'

export interface RelayOptions {
  /** Names the checkpoint and the lease, e.g. catalog.relay. */
  name: string
  eventStore: EventStore
  readModels: ReadModels
  bus: Bus
  streamPrefixes: string[]
  /** What a fact looks like to other services; none for a fact that stays inside. */
  publicEvents(event: Fact): Message[]
  holder: string
  log: Log
}

const BATCH = 500

/**
 * The only way from the log to the bus: publishes in log order with the event's id, waits for the acknowledgement,
 * then saves how far it came. A crash publishes again; the bus and its consumers know the id.
 */
export function startRelay(options: RelayOptions): Worker {
  const { name, eventStore, readModels, bus, streamPrefixes, publicEvents, holder, log } = options
  const { checkpoints, leases } = readModels

  return supervise(name, log, signal =>
    underLease({ leases, name, holder, signal }, async (lease, held) => {
      const after = (await checkpoints.get(name)) ?? START
      let saved = after
      let messages: Message[] = []
      const flush = async (position: Position) => {
        if (messages.length > 0) await bus.publish(messages)
        messages = []
        if (position > saved) await checkpoints.save(name, position, lease)
        saved = position > saved ? position : saved
      }
      for await (const item of eventStore.subscribe({ after, streamPrefixes, signal: held })) {
        if (item.kind === 'event') {
          messages.push(...publicEvents(item.event))
          if (messages.length >= BATCH) await flush(item.event.position)
        } else await flush(item.position)
      }
    }),
  )
}
