import type { Log } from '@gantry/event-sourcing'

/** How often each replica is asked whether it is ready. */
const LOOK_MS = 500
const PATIENCE_MS = 2_000
/** How long a replica that cannot be reached is left out, unless it says before that it is ready. */
const LEFT_OUT_MS = 1_000

/** The processes of one service: who of them is to be asked next. */
export interface Replicas {
  /** In turn one that is ready, another than `except` when there is one; when none is ready, any. */
  next(except?: string): string
  /** It could not be reached: others are asked for a while. */
  leaveOut(url: string): void
  /** Whether one said that it is ready when it was last asked. */
  ready(): boolean
  /** Asks all of them every so often, until the returned function is called. */
  watch(): () => void
}

export interface ReplicasOptions {
  /** Origins, such as http://10.0.0.7:8080; at least one. */
  urls: readonly string[]
  /** Of the health check. */
  basePath: string
  now(): Date
  log: Log
}

export function replicas({ urls, basePath, now, log }: ReplicasOptions): Replicas {
  /** Since when each is known to be ready, and until when it is left out. */
  const states = new Map(urls.map(url => [url, { ready: false, leftOutUntil: 0 }]))
  let turn = 0

  const usable = (url: string) => {
    const state = states.get(url)
    return state?.ready === true && state.leftOutUntil <= now().getTime()
  }

  const look = async (url: string, signal: AbortSignal) => {
    const ready = await isReady(`${url}${basePath}/health/ready`, signal)
    const state = states.get(url)
    if (!state || signal.aborted) return
    if (state.ready !== ready) log.info({ replica: url, ready }, 'a replica changed')
    state.ready = ready
  }

  return {
    next(except) {
      const others = urls.filter(url => url !== except)
      const candidates = [others.filter(usable), others, [...urls]].find(list => list.length > 0) ?? []
      turn = (turn + 1) % Number.MAX_SAFE_INTEGER
      return candidates[turn % candidates.length] ?? ''
    },
    leaveOut(url) {
      const state = states.get(url)
      if (state) state.leftOutUntil = now().getTime() + LEFT_OUT_MS
    },
    ready: () => urls.some(url => states.get(url)?.ready),
    watch() {
      const ending = new AbortController()
      const lookAtAll = async () => {
        await Promise.all(urls.map(url => look(url, ending.signal)))
        if (!ending.signal.aborted) timer = setTimeout(lookAtAll, LOOK_MS)
      }
      let timer: NodeJS.Timeout | undefined
      lookAtAll()
      return () => {
        clearTimeout(timer)
        ending.abort()
      }
    },
  }
}

async function isReady(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { ok, body } = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
    await body?.cancel()
    return ok
  } catch {
    return false
  }
}
