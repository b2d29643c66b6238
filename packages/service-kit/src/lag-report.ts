import type { Lag } from '@gantry/contracts'
import { sleep } from '@gantry/messaging'
import type { ConsumerWatch, LogLag } from './lag-metrics.ts'

/** Time for the stores to tell the lag. */
const TIMEOUT_MS = 2_000

interface Followers {
  projectors: readonly string[]
  relay: string
  ofLog: LogLag
  consumers: ReadonlyMap<string, ConsumerWatch>
}

/** The lag of the parts of a service, for `GET /system`; null while a store does not answer in time. Never throws. */
export async function lagOf({ projectors, relay, ofLog, consumers }: Followers): Promise<Lag[]> {
  const [ofProjectors, ofRelay, ...ofConsumers] = await Promise.all([
    inTime(ofLog.ofProjectors()),
    inTime(ofLog.ofRelay()),
    ...[...consumers.values()].map(watch => inTime(watch.lag())),
  ])
  const unknown = { events: null, seconds: null }
  return [
    ...projectors.map((name): Lag => {
      const found = ofProjectors?.find(lag => lag.name === name)
      return { name, kind: 'PROJECTOR', events: found?.events ?? null, seconds: found?.seconds ?? null }
    }),
    { name: relay, kind: 'RELAY', ...(ofRelay ?? unknown) },
    ...[...consumers.keys()].map(
      (name, place): Lag => ({ name, kind: 'CONSUMER', ...(ofConsumers[place] ?? unknown) }),
    ),
  ]
}

/** The result, or undefined if there is none in time. */
async function inTime<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  const done = new AbortController()
  const late = sleep(TIMEOUT_MS, { signal: done.signal }).then(() => undefined)
  return Promise.race([reading.catch(() => undefined), late]).finally(() => done.abort())
}
