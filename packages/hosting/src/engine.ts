import type { Log } from '@gantry/event-sourcing'

/** A server, or a file, that a process cannot do without. */
export interface Engine {
  /** The setting that leads to it. */
  setting: string
  /** Whether requests can be answered without it, once the process has started. */
  spared?: boolean
  /** Resolves when it can be used. @throws Error whose message says what is wrong, naming the setting */
  check(): Promise<void>
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
/** How often an engine that could be used is looked at again. */
const LOOK_MS = 2_000

export interface EngineWatch {
  /** Resolves when every engine has been usable; never when it is stopped before. */
  usable: Promise<void>
  /**
   * Which engine is needed and cannot be used, by its setting; undefined when requests can be answered. What is wrong with
   * it is in the log only, because the health checks show this, and the reason may have addresses.
   */
  trouble(): string | undefined
  /** Whether each could be used when it was last looked at, by its setting. */
  up(): ReadonlyMap<string, boolean>
  stop(): void
}

/** Looks at engines again and again, with pauses that grow while one is away; says every change in a line. */
export function watchEngines(engines: readonly Engine[], log: Log): EngineWatch {
  const stopping = new AbortController()
  const troubled = new Set(engines.map(({ setting }) => setting))
  const up = new Map<string, boolean>(engines.map(({ setting }) => [setting, false]))
  const timers = new Set<NodeJS.Timeout>()

  const pause = (ms: number) =>
    new Promise<void>(resolve => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        resolve()
      }, ms)
      timers.add(timer)
    })

  const watch = async ({ setting, check, spared = false }: Engine, usable: () => void) => {
    let said: string | undefined
    let wasUsable = false
    for (let wait = FIRST_PAUSE_MS; !stopping.signal.aborted; ) {
      try {
        await check()
        if (said !== undefined) log.info({ setting }, `${setting}: it can be used again`)
        said = undefined
        troubled.delete(setting)
        up.set(setting, true)
        usable()
        wasUsable = true
        wait = FIRST_PAUSE_MS
        await pause(LOOK_MS)
      } catch (error) {
        const reason = reasonOf(setting, error)
        up.set(setting, false)
        if (!(spared && wasUsable)) troubled.add(setting)
        if (reason !== said && !stopping.signal.aborted) log.error({ setting }, reason)
        said = reason
        await pause(wait * (0.5 + Math.random() / 2))
        wait = Math.min(wait * 2, LONGEST_PAUSE_MS)
      }
    }
  }

  const usable = Promise.all(
    engines.map(engine => new Promise<void>(resolve => void watch(engine, resolve))),
  ).then(() => {})
  return {
    usable,
    trouble() {
      const [setting] = troubled
      return setting && `the engine of ${setting}`
    },
    up: () => up,
    stop() {
      stopping.abort()
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

function reasonOf(setting: string, error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.includes(setting) ? line : `${setting}: ${line}`
}
