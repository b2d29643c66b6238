import { Ready } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import { INTERNAL_PORT_HEADER, RELEASE_HEADER } from '@gantry/service-runtime'
import { isResolved, originsBehind, type Resolve, systemResolve } from './addresses.ts'

/** Interval of the health checks of each replica. */
const POLL_MS = 500
const TIMEOUT_MS = 2_000
/** How long no requests are sent to a replica that could not be reached. */
const LEFT_OUT_MS = 1_000
/** Interval at which host names are resolved again. */
const RESOLVE_MS = 2_000

/** The replicas of one service. Chooses the replica for each request. */
export interface Replicas {
  /**
   * The origin of the replica for the next request, in turn: a ready one other than `except`; if there is none, any other
   * than `except`; if there is none, `except`.
   */
  next(except?: string): string
  /** Sends no requests to a replica for a while, because it could not be reached. */
  leaveOut(url: string): void
  /** The origin for internal requests to a replica: at the port that its health check names; until then the origin itself. */
  inside(url: string): string
  /** All replicas that are known, with the results of their last health checks. */
  all(): readonly KnownReplica[]
  /** Whether at least one replica was ready at its last health check. */
  ready(): boolean
  /** Resolves host names and checks the health of all replicas once. */
  check(): Promise<void>
  /** Checks the health of all replicas and resolves host names periodically, until the returned function is called. */
  watch(): () => void
}

export interface KnownReplica {
  origin: string
  ready: boolean
  /** The release that it runs; undefined until it has answered. */
  release: string | undefined
}

export interface ReplicasOptions {
  /** Origins, such as http://10.0.0.7:8080; at least one. An http origin with a host name stands for all its addresses. */
  urls: readonly string[]
  /** Base path of the health check. */
  basePath: string
  now(): Date
  log: Log
  resolve?: Resolve
}

/** The result of the last health check of a replica, and the time until which it gets no requests. */
interface State {
  ready: boolean
  internalPort?: string | undefined
  release?: string | undefined
  leftOutUntil: number
}

export function replicas({ urls, basePath, now, log, resolve = systemResolve }: ReplicasOptions): Replicas {
  /** Origins by URL: the URL itself until its name is resolved, then the last addresses. A failed lookup keeps them. */
  const behind = new Map<string, readonly string[]>(urls.map(url => [url, [url]]))
  let states = new Map<string, State>(urls.map(url => [url, { ready: false, leftOutUntil: 0 }]))
  let lastIndex = 0

  const usable = (origin: string) => {
    const state = states.get(origin)
    return state?.ready === true && state.leftOutUntil <= now().getTime()
  }

  const checkHealth = async (origin: string, state: State, signal: AbortSignal) => {
    const was = state.ready
    const { ready } = Object.assign(state, await health(`${origin}${basePath}/health/ready`, signal))
    if (ready !== was) log.info({ replica: origin, ready }, 'the readiness of a replica changed')
  }

  /** One loop per replica, so that a replica that does not answer does not delay the checks of the others. */
  const keepChecking = async (origin: string, state: State, signal: AbortSignal) => {
    while (!signal.aborted && states.get(origin) === state) {
      await checkHealth(origin, state, signal)
      await sleep(POLL_MS, { signal })
    }
  }

  /** Resolves a host name. A new replica gets requests after its first health check; a removed one gets no more requests. */
  const resolveHost = async (url: string, signal: AbortSignal) => {
    const origins = await originsBehind(url, resolve).catch(() => [])
    if (origins.length === 0) return
    behind.set(url, origins)
    const wanted = new Set([...behind.values()].flat())
    const added = [...wanted]
      .filter(origin => !states.has(origin))
      .map((origin): [string, State] => [origin, { ready: false, leftOutUntil: 0 }])
    const gone = [...states.keys()].filter(origin => !wanted.has(origin))
    if (added.length === 0 && gone.length === 0) return
    await Promise.all(added.map(([origin, state]) => checkHealth(origin, state, signal)))
    states = new Map([...states, ...added].filter(([origin]) => wanted.has(origin)))
    log.info({ url, come: added.map(([origin]) => origin), gone }, 'the addresses of a host name changed')
    for (const [origin, state] of added) keepChecking(origin, state, signal)
  }

  return {
    next(except) {
      const all = [...states.keys()]
      const others = all.filter(origin => origin !== except)
      const candidates = [others.filter(usable), others, all].find(list => list.length > 0) ?? []
      return candidates[++lastIndex % candidates.length] ?? ''
    },
    leaveOut(origin) {
      const state = states.get(origin)
      if (state) state.leftOutUntil = now().getTime() + LEFT_OUT_MS
    },
    inside(origin) {
      const port = states.get(origin)?.internalPort
      return port === undefined ? origin : Object.assign(new URL(origin), { port }).origin
    },
    all: () => [...states].map(([origin, { ready, release }]) => ({ origin, ready, release })),
    ready: () => [...states.values()].some(({ ready }) => ready),
    async check() {
      const once = new AbortController()
      for (const url of urls.filter(isResolved)) await resolveHost(url, once.signal)
      await Promise.all([...states].map(([origin, state]) => checkHealth(origin, state, once.signal)))
      once.abort()
    },
    watch() {
      const ending = new AbortController()
      const { signal } = ending
      for (const [origin, state] of states) keepChecking(origin, state, signal)
      const keepResolving = async () => {
        while (!signal.aborted) {
          for (const url of urls.filter(isResolved)) await resolveHost(url, signal)
          await sleep(RESOLVE_MS, { signal })
        }
      }
      keepResolving()
      return () => ending.abort()
    },
  }
}

/** Checks the health of a replica. @returns what it has learnt; nothing when the signal was aborted */
async function health(url: string, signal: AbortSignal): Promise<Partial<State>> {
  try {
    const { ok, headers, body } = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await body?.cancel()
    const header = (name: string) => headers.get(name) ?? undefined
    return { ready: ok, internalPort: header(INTERNAL_PORT_HEADER), release: header(RELEASE_HEADER) }
  } catch {
    return signal.aborted ? {} : { ready: false }
  }
}

const CLOCK_TIMEOUT_MS = 1_000

/** The time of one replica of a service, which uses the reference clock. @throws Error when the replica is not ready */
export async function referenceTime(replicas: Replicas, basePath: string): Promise<Date> {
  const response = await fetch(`${replicas.next()}${basePath}/health/ready`, {
    signal: AbortSignal.timeout(CLOCK_TIMEOUT_MS),
  })
  return new Date(Ready.parse(await response.json()).time)
}
