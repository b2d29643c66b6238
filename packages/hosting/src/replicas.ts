import { setTimeout } from 'node:timers/promises'
import type { Log } from '@gantry/event-sourcing'
import { INTERNAL_PORT_HEADER } from '@gantry/service-kit'
import { isFollowed, originsBehind, type Resolve, systemResolve } from './addresses.ts'

/** How often each replica is asked whether it is ready. */
const LOOK_MS = 500
const PATIENCE_MS = 2_000
/** How long a replica that cannot be reached is left out, unless it says before that it is ready. */
const LEFT_OUT_MS = 1_000
/** How often host names are resolved again. */
const RESOLVE_MS = 2_000

/** The processes of one service: who of them is to be asked next. */
export interface Replicas {
  /** In turn one that is ready, another than `except` when there is one; when none is ready, any. */
  next(except?: string): string
  /** It could not be reached: others are asked for a while. */
  leaveOut(url: string): void
  /** The origin at which a replica answers internal requests: that of its operations if it says of no other. */
  inside(url: string): string
  /** Whether one said that it is ready when it was last asked. */
  ready(): boolean
  /** Asks all of them every so often, and who they are, until the returned function is called. */
  watch(): () => void
}

export interface ReplicasOptions {
  /** Origins, such as http://10.0.0.7:8080; at least one. Behind an http host name are all of its addresses. */
  urls: readonly string[]
  /** Of the health check. */
  basePath: string
  now(): Date
  log: Log
  resolve?: Resolve
}

/** What it said when it was last asked, and until when it is left out. */
interface State {
  ready: boolean
  internalPort?: string | undefined
  leftOutUntil: number
}

export function replicas({ urls, basePath, now, log, resolve = systemResolve }: ReplicasOptions): Replicas {
  /** Each URL stands for itself until its name is resolved; what a name led to last stays while it leads nowhere. */
  const behind = new Map<string, readonly string[]>(urls.map(url => [url, [url]]))
  let states = new Map<string, State>(urls.map(url => [url, { ready: false, leftOutUntil: 0 }]))
  let turn = 0

  const usable = (origin: string) => {
    const state = states.get(origin)
    return state?.ready === true && state.leftOutUntil <= now().getTime()
  }

  const look = async (origin: string, state: State, signal: AbortSignal) => {
    const answer = await health(`${origin}${basePath}/health/ready`, signal)
    if (signal.aborted) return
    const ready = answer?.ready ?? false
    if (answer) state.internalPort = answer.internalPort
    if (state.ready !== ready) log.info({ replica: origin, ready }, 'a replica changed')
    state.ready = ready
  }

  /** Each by itself, so that one which does not answer holds up no look at another. */
  const keepLooking = async (origin: string, state: State, signal: AbortSignal) => {
    while (!signal.aborted && states.get(origin) === state) {
      await look(origin, state, signal)
      await pause(LOOK_MS, signal)
    }
  }

  /** A replica that has come is looked at before it can be asked; one that has gone is asked no more. */
  const follow = async (url: string, signal: AbortSignal) => {
    const origins = await originsBehind(url, resolve).catch(() => [])
    if (origins.length === 0) return
    behind.set(url, origins)
    const wanted = new Set([...behind.values()].flat())
    const come = [...wanted]
      .filter(origin => !states.has(origin))
      .map((origin): [string, State] => [origin, { ready: false, leftOutUntil: 0 }])
    const gone = [...states.keys()].filter(origin => !wanted.has(origin))
    if (come.length === 0 && gone.length === 0) return
    await Promise.all(come.map(([origin, state]) => look(origin, state, signal)))
    states = new Map([...states, ...come].filter(([origin]) => wanted.has(origin)))
    log.info({ url, come: come.map(([origin]) => origin), gone }, 'the replicas behind a name changed')
    for (const [origin, state] of come) keepLooking(origin, state, signal)
  }

  return {
    next(except) {
      const all = [...states.keys()]
      const others = all.filter(origin => origin !== except)
      const candidates = [others.filter(usable), others, all].find(list => list.length > 0) ?? []
      turn = (turn + 1) % Number.MAX_SAFE_INTEGER
      return candidates[turn % candidates.length] ?? ''
    },
    leaveOut(origin) {
      const state = states.get(origin)
      if (state) state.leftOutUntil = now().getTime() + LEFT_OUT_MS
    },
    inside(origin) {
      const { internalPort } = states.get(origin) ?? {}
      if (internalPort === undefined) return origin
      const url = new URL(origin)
      url.port = internalPort
      return url.origin
    },
    ready: () => [...states.values()].some(({ ready }) => ready),
    watch() {
      const ending = new AbortController()
      const { signal } = ending
      for (const [origin, state] of states) keepLooking(origin, state, signal)
      const keepFollowing = async () => {
        while (!signal.aborted) {
          for (const url of urls.filter(isFollowed)) await follow(url, signal)
          await pause(RESOLVE_MS, signal)
        }
      }
      keepFollowing()
      return () => ending.abort()
    },
  }
}

const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {})

/** What a replica says of itself; undefined when it does not answer. */
async function health(url: string, signal: AbortSignal) {
  try {
    const { ok, headers, body } = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
    await body?.cancel()
    return { ready: ok, internalPort: headers.get(INTERNAL_PORT_HEADER) ?? undefined }
  } catch {
    return undefined
  }
}
