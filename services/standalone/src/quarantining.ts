import type { ServiceRequest } from '@gantry/contracts'
import { type HeldStream, heldStreams, listHeld, relaysOf, requestRetry } from '@gantry/event-sourcing'
import type { Peers } from '@gantry/service-runtime'
import type { ReadModels } from '@gantry/stores'
import { z } from 'zod'

/** A held stream and the projector or relay that holds it. */
export type Held = HeldStream & { projector: string }

/** The held streams of several projectors and their relays, and the retry of one stream or of all. */
export interface Quarantine {
  /** Sorted by stream. */
  list(): Promise<Held[]>
  /**
   * Asks the projectors to project their held streams again.
   * @param id unique for each request; a repeated id returns the progress of that request
   * @param stream the stream to retry; all held streams when left out
   * @returns names of the projectors that have not finished
   */
  retry(id: string, stream?: string): Promise<string[]>
}

export function quarantine(readModels: ReadModels, projectors: readonly string[]): Quarantine {
  const holders = [...projectors, ...relaysOf(projectors)]
  const definitions = holders.map(projector => ({ projector, definition: heldStreams(projector) }))
  const retries = new Map<string, (() => Promise<boolean>)[]>()
  return {
    async list() {
      const streams: Held[] = []
      for (const { projector, definition } of definitions)
        for await (const stream of listHeld(definition, readModels)) streams.push({ ...stream, projector })
      return streams.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    },
    async retry(id, stream) {
      let checks = retries.get(id)
      if (!checks) {
        checks = await Promise.all(projectors.map(name => requestRetry(name, readModels, { id, stream })))
        retries.set(id, checks)
      }
      const states = await Promise.all(checks.map(isDone => isDone()))
      return projectors.filter((_, index) => !states[index])
    },
  }
}

const request = { service: 'standalone', timeoutMs: 5_000 }
const listing = {
  ...request,
  id: 'standalone.quarantine',
  asked: z.object({}),
  answer: z.custom<Held[]>(),
} satisfies ServiceRequest
const retrying = {
  ...request,
  id: 'standalone.retry',
  asked: z.object({ id: z.string(), stream: z.string().optional() }),
  answer: z.array(z.string()),
} satisfies ServiceRequest

/** Answers the command, which runs in another process and cannot use the stores of this one. */
export function answerQuarantine(peers: Peers, own: Quarantine): () => void {
  const ends = [
    peers.answer(listing, own.list),
    peers.answer(retrying, ({ id, stream }) => own.retry(id, stream)),
  ]
  return () => {
    for (const end of ends) end()
  }
}

/** The quarantine of the running service. Its calls throw Unanswered when none is running. */
export const quarantineOver = (peers: Pick<Peers, 'ask'>): Quarantine => ({
  list: () => peers.ask(listing, {}),
  retry: (id, stream) => peers.ask(retrying, { id, stream }),
})
