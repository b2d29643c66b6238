import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'

export type System = Schemas['System']
export type Lag = System['lag'][number]

/** The time that the charts show. */
export const WINDOW_MS = 10 * 60_000
/** Time between two readings. */
export const EVERY_MS = 5_000

/** The lag of every component at a time. */
export interface Sample {
  at: number
  lag: readonly Lag[]
}

interface Observed {
  system: System
  /** The readings of the last minutes, the oldest first. */
  samples: readonly Sample[]
}

const KEY = ['system']

/**
 * Reads the state of the installation, and adds its lag to the earlier readings. The interface answers the present lag only,
 * so the series begins when the page is opened first.
 */
export const observed = {
  queryKey: KEY,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Observed> => {
    const system = await answer(client.getSystem({}, { signal }))
    const earlier = queries.getQueryData<Observed>(KEY)?.samples ?? []
    const at = Date.now()
    return {
      system,
      samples: [...earlier.filter(sample => sample.at >= at - WINDOW_MS), { at, lag: system.lag }],
    }
  },
}

/** The kinds of components that follow others, in the order of the path of an event. */
export const KINDS = ['PROJECTOR', 'RELAY', 'CONSUMER'] as const satisfies readonly Lag['kind'][]

type Unit = 'events' | 'seconds'

/** The lag of one component over time. */
export interface Series {
  name: string
  service: string
  /** Present values; null while the backing store does not answer. */
  events: number | null
  seconds: number | null
  /** The largest value of the window in the unit; null without any. */
  most: number | null
  /** Values at the times of `Timeline.times`; null where there is none. */
  values: (number | null)[]
}

export interface Timeline {
  /** Seconds since 1970. */
  times: number[]
  series: Series[]
}

/** A pause or an outage that lasts longer than this is a gap in the chart. */
const GAP_MS = 3 * EVERY_MS

/** The lag of the components of a kind, as the chart needs it. */
export function timelineOf(samples: readonly Sample[], kind: Lag['kind'], unit: Unit): Timeline {
  const points = withGaps(samples)
  const latest = samples.at(-1)?.lag.filter(lag => lag.kind === kind) ?? []
  const series = latest.map(({ name, service, events, seconds }): Series => {
    const values = points.map(({ lag }) => lag.find(one => one.name === name)?.[unit] ?? null)
    const known = values.filter(value => value !== null)
    return { name, service, events, seconds, most: known.length > 0 ? Math.max(...known) : null, values }
  })
  return { times: points.map(({ at }) => at / 1_000), series }
}

/** Lag below this is usual, in seconds: the next reading of a component has ended it. */
const USUAL_S = 10

/** Whether a component of a kind is or was behind in the window, or its lag is unknown. */
export const isBehind = (samples: readonly Sample[], kind: Lag['kind']): boolean =>
  samples.some(({ lag }) =>
    lag.some(one => one.kind === kind && (one.seconds ?? Number.POSITIVE_INFINITY) >= USUAL_S),
  )

function withGaps(samples: readonly Sample[]): Sample[] {
  return samples.flatMap((sample, index) => {
    const before = samples[index - 1]
    if (!before || sample.at - before.at <= GAP_MS) return [sample]
    return [{ at: before.at + 1, lag: [] }, sample]
  })
}
