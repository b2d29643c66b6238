import { type HeldStream, heldStreams, listHeld, relaysOf, requestRetry } from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import type { ReadModels } from '@gantry/stores'
import { z } from 'zod'

/** Subject of the requests from the command to the running service. */
const SUBJECT = 'standalone.quarantine'
const TIMEOUT_MS = 5_000

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

const QuarantineRequest = z.object({
  retry: z.object({ id: z.string(), stream: z.string().optional() }).optional(),
})

/** Answers the command, which runs in another process and cannot use the stores of this one. */
export function answerQuarantine(bus: Bus, own: Quarantine): () => void {
  return bus.respond(SUBJECT, async body => {
    const { retry } = QuarantineRequest.parse(body)
    const reply = retry ? { waiting: await own.retry(retry.id, retry.stream) } : { held: await own.list() }
    return reply as unknown as Json
  })
}

/** The quarantine of the running service. Its calls throw NoResponder or RequestTimeout when none is running. */
export function quarantineOver(bus: Bus): Quarantine {
  const request = async (body: Json) =>
    (await bus.request(SUBJECT, body, { timeoutMs: TIMEOUT_MS })) as unknown
  return {
    list: async () => ((await request({})) as { held: Held[] }).held,
    retry: async (id, stream) =>
      ((await request({ retry: { id, ...(stream !== undefined && { stream }) } })) as { waiting: string[] })
        .waiting,
  }
}
