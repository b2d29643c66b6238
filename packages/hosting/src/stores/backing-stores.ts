import type { BackingStoreState } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import { Backoff, sleep } from '@gantry/pacing'

/** A server or file that a process needs, e.g. EventStoreDB. */
export interface BackingStore {
  /** The setting with its address. */
  setting: string
  /** Whether the process stays ready without it after it has been usable once. Default: false. */
  onlyAtStart?: boolean
  /** What the store is, for operators; without URL and credentials. */
  about(): Omit<BackingStoreState, 'status'>
  /** Resolves when the backing store can be used. @throws Error with the reason and the setting in its message */
  check(): Promise<void>
}

/** An open store, and what has to be usable for it. */
export interface Open<Store> {
  store: Store
  backingStore: BackingStore
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
/** Interval of the checks of a usable backing store. */
const POLL_MS = 2_000

export interface BackingStoreWatch {
  /** Resolves when every backing store has been usable; never resolves if `stop` is called before. */
  usable: Promise<void>
  /**
   * Names a needed backing store that cannot be used, by its setting; undefined when requests can be answered. The reason
   * is only logged, because health checks show this text and the reason may contain addresses.
   */
  trouble(): string | undefined
  /** Whether each backing store could be used at its last check, by setting. */
  up(): ReadonlyMap<string, boolean>
  /** What each backing store is, and whether it could be used at its last check. */
  states(): BackingStoreState[]
  stop(): void
}

/** Checks backing stores periodically, with exponential backoff while one is unavailable. Logs every change. */
export function watchBackingStores(backingStores: readonly BackingStore[], log: Log): BackingStoreWatch {
  const stopping = new AbortController()
  const { signal } = stopping
  const troubled = new Set(backingStores.map(({ setting }) => setting))
  const up = new Map<string, boolean>(backingStores.map(({ setting }) => [setting, false]))
  const available = new Set<BackingStore>()

  const watch = async (backingStore: BackingStore, usable: () => void) => {
    const { setting, check, onlyAtStart = false } = backingStore
    let loggedReason: string | undefined
    let wasUsable = false
    const pauses = new Backoff({ firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS, jitter: 0.5 })
    while (!signal.aborted) {
      try {
        await check()
        if (loggedReason !== undefined) log.info({ setting }, `${setting}: available again`)
        loggedReason = undefined
        troubled.delete(setting)
        up.set(setting, true)
        available.add(backingStore)
        usable()
        wasUsable = true
        pauses.reset()
        await sleep(POLL_MS, { signal })
      } catch (error) {
        const reason = failureLineOf(setting, error)
        up.set(setting, false)
        available.delete(backingStore)
        if (!(onlyAtStart && wasUsable)) troubled.add(setting)
        if (reason !== loggedReason && !signal.aborted) log.error({ setting }, reason)
        loggedReason = reason
        await sleep(pauses.next(), { signal })
      }
    }
  }

  const usable = Promise.all(
    backingStores.map(backingStore => new Promise<void>(resolve => void watch(backingStore, resolve))),
  ).then(() => {})
  return {
    usable,
    trouble() {
      const [setting] = troubled
      return setting && `the backing store of ${setting}`
    },
    up: () => up,
    states: () =>
      backingStores.map(backingStore => ({
        ...backingStore.about(),
        status: available.has(backingStore) ? 'AVAILABLE' : 'UNAVAILABLE',
      })),
    stop: () => stopping.abort(),
  }
}

function failureLineOf(setting: string, error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.includes(setting) ? line : `${setting}: ${line}`
}
