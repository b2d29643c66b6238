import {
  HeldMessages,
  handlingEarly,
  type Projector,
  type Publication,
  type Reaction,
  startReactor,
  startRelay,
  type Worker,
} from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { handlingMessage } from '@gantry/tracing'
import { measureBuffer } from './buffers.ts'
import { logErrorCounter, missedMessageCounter } from './event-metrics.ts'
import { forgettingUsers } from './idempotency.ts'
import { type Follower, followingConsumer, lagOfParts, logFollowers, showLag } from './lag.ts'
import type { Responder } from './peers.ts'
import type { Dependencies, Service } from './service.ts'

/** The parts of a service. `serviceFrom` starts and stops them. */
export interface ServiceParts {
  name: string
  routes: Service['routes']
  projectors: readonly Projector[]
  /** What the relay of the service publishes. */
  publication: Publication
  /** Reactions to messages of other services, one for each consumer. The one to ends of users is added. */
  reactors?: readonly Reaction[]
  /** Each starts other background work. */
  workers?: readonly (() => Worker)[]
  /** Answers to requests of other services. */
  responders?: readonly Responder[]
  /** Completes work in progress that still appends events. Called after the workers have stopped. */
  drain?(): Promise<void>
}

/**
 * A service from its parts. A start for a rebuild starts the projectors only, so that it appends and sends nothing.
 * The end has two steps: `release` stops reactors and workers. `stop` stops the rest, which requests in progress may need:
 * the responders, then the work that still appends events, then projectors and relay, which follow what those append.
 */
export function serviceFrom(dependencies: Dependencies, parts: ServiceParts): Service {
  const { eventStore, readModels, bus, now, process } = dependencies
  const { holder, log, metrics, peers, alone } = process
  const early = alone?.early
  const { name, routes, projectors, publication, workers = [], responders = [], drain } = parts
  const reactors: Reaction[] = [...(parts.reactors ?? []), forgettingUsers(name, readModels)]
  const relays: Worker[] = []
  const working: Worker[] = []
  const unsubscribe: (() => void)[] = []
  const errors = logErrorCounter(metrics)
  const relay = `${name}.relay`
  const projectorNames = projectors.map(projector => projector.name)
  const followers: Follower[] = logFollowers(
    { eventStore, readModels },
    { relay, projectors: projectorNames, now },
  )
  const countErrorsOf = (workers: readonly Worker[]) => {
    for (const { name: worker } of workers) if (worker !== undefined) errors.inc({ worker }, 0)
  }
  const isCaughtUp = () => projectors.every(({ background, caughtUp }) => background || caughtUp)
  const release = async () => {
    await Promise.all(working.map(worker => worker.stop()))
  }

  return {
    name,
    routes,
    projectors: projectorNames,
    async start(only) {
      for (const projector of projectors) projector.start()
      countErrorsOf(projectors.flatMap(({ workers }) => workers))
      for (const follower of followers) showLag(metrics, follower)
      if (only === 'projectors') return
      relays.push(startRelay({ name: relay, publication, eventStore, readModels, bus, holder, log, early }))
      working.push(...workers.map(start => start()))
      for (const reactor of reactors) {
        const missed = missedMessageCounter(metrics)(reactor.consumer)
        const following = followingConsumer({ bus, readModels, now }, reactor)
        followers.push(following)
        showLag(metrics, following)
        measureBuffer(metrics, 'bus-messages', following.bytes)
        const within = (message: Message, work: () => Promise<void>) =>
          handlingMessage(bus.system, message, work)
        const held = new HeldMessages({ consumer: reactor.consumer, eventStore, now, log })
        const handling = handlingEarly(reactor, { messages: early, isReady: isCaughtUp, within })
        const react = held.holding(message => following.handling(message, () => handling.react(message)))
        const options = { bus, eventStore, readModels, holder, log, isReady: isCaughtUp, within, missed }
        working.push(handling, startReactor({ ...reactor, react }, options))
        working.push(held.start(message => within(message, () => reactor.react(message))))
      }
      countErrorsOf([...relays, ...working])
      unsubscribe.push(...responders.map(answer => answer(peers)))
    },
    waitingFor() {
      for (const { waitsFor } of [...relays, ...working]) if (waitsFor !== undefined) return waitsFor
      return isCaughtUp() ? undefined : `the read models of ${name}`
    },
    lag: () => lagOfParts(followers),
    release,
    async stop() {
      for (const end of unsubscribe) end()
      await release()
      await drain?.()
      await Promise.all([...projectors, ...relays].map(worker => worker.stop()))
    },
  }
}
