import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Refusal } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import { Slots } from '@gantry/service-runtime'
import { type Checked, type CheckOptions, DocumentInvalid, invalid } from '../check/checked.ts'
import type { CheckAnswer, CheckTask } from './check-thread.ts'

export interface Checker {
  /**
   * Checks a document in a thread of its own, so that no request waits for it.
   * @param read reads the document, once a thread is free
   * @throws DocumentInvalid; Refusal too-many-checks when it cannot end in time
   */
  check(document: { size: number; read(): Promise<Uint8Array> }, options?: CheckOptions): Promise<Checked>
  /** Ends the threads. */
  stop(): Promise<void>
}

export interface CheckerLimits {
  /** Processor time of a check, in milliseconds. */
  timeMs: number
  /**
   * Time for the wait, the reading and the check together, in milliseconds. A document waits until only `timeMs` of it
   * is left.
   */
  lastsMs: number
  /** Heap of the thread. */
  heapMiB: number
  /** Checks that wait for the thread. */
  waiting: number
  /** Time after which the thread ends without work. */
  idleMs: number
}

/** The gateway gives up a change after 20 s, and 2 s of them may pass until the operations can be found. */
const LIMITS: CheckerLimits = {
  timeMs: 10_000,
  lastsMs: 16_000,
  heapMiB: 160,
  waiting: 100,
  idleMs: 10_000,
}
/** Interval at which the processor time of a check is read. */
const POLL_MS = 100
/** Documents of this size wait for smaller ones, and the thread ends after one: its memory stays as large as they made it. */
const LARGE_BYTES = 4 * 1_048_576
const isLarge = (size: number) => size >= LARGE_BYTES

/**
 * Documents are checked one at a time, because a parsed document takes many times its size. The next check after one that
 * exceeded a limit has a new thread.
 */
export function documentChecker(log?: Log, limits: CheckerLimits = LIMITS): Checker {
  const slots = new Slots<number>(1, (a, b) => Number(isLarge(a)) - Number(isLarge(b)))
  const thread = new Thread(limits)

  return {
    async check({ size, read }, options = {}) {
      if (slots.waiting >= limits.waiting) throw busy()
      const deadline = performance.now() + limits.lastsMs
      const left = () => Math.max(0, deadline - performance.now())
      const slot = await slots.take(size, { waitMs: Math.max(0, limits.lastsMs - limits.timeMs) })
      if (!slot) throw busy()
      try {
        const bytes = await read()
        const answer = await thread.run({ bytes, options }, { keep: !isLarge(size), lastsMs: left() })
        if ('checked' in answer) return answer.checked
        if ('errors' in answer) throw new DocumentInvalid(answer.errors)
        log?.error({ failure: answer.failure }, 'a parser of documents failed')
        throw invalid('the document cannot be read: its parser failed')
      } finally {
        slot.release()
      }
    },
    stop: () => thread.stop(),
  }
}

/** The thread of checks, which is started when it is needed. */
class Thread {
  readonly #limits: CheckerLimits
  #worker: Worker | undefined
  #ending: NodeJS.Timeout | undefined

  constructor(limits: CheckerLimits) {
    this.#limits = limits
  }

  /** Calls must not overlap. @param how.keep whether the thread is used again */
  async run(task: CheckTask, { keep, lastsMs }: { keep: boolean; lastsMs: number }): Promise<CheckAnswer> {
    const { heapMiB } = this.#limits
    clearTimeout(this.#ending)
    this.#worker ??= this.#start()
    const worker = this.#worker
    worker.ref()
    const over = new AbortController()
    const outOfMemory = () => invalid(`the check of the document needs more than ${heapMiB} MiB of memory`)
    try {
      const answered = Promise.race([
        once(worker, 'message', over).then(([answer]) => answer as CheckAnswer),
        once(worker, 'exit', over).then((): never => {
          throw outOfMemory()
        }),
        this.#exceeded(worker, lastsMs, over.signal),
      ])
      worker.postMessage(task, transferable(task.bytes))
      const answer = await answered
      if (keep) this.#rest(worker)
      else await this.stop()
      return answer
    } catch (error) {
      await this.stop()
      throw (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? outOfMemory() : error
    } finally {
      over.abort()
    }
  }

  /** Throws once a thread has exceeded a limit of time. */
  async #exceeded(worker: Worker, lastsMs: number, signal: AbortSignal): Promise<never> {
    const { timeMs } = this.#limits
    const began = performance.now()
    let before: number | undefined
    let used = 0
    // Not awaited: a thread that is starting, or is in a long call, does not answer.
    const measure = () =>
      worker.cpuUsage().then(
        ({ user, system }) => {
          before ??= user + system
          used = user + system - before
        },
        () => {},
      )
    while (performance.now() - began < lastsMs) {
      void measure()
      await setTimeout(POLL_MS, undefined, { signal })
      if (used > timeMs * 1_000)
        throw invalid(`the check of the document takes longer than ${timeMs / 1_000} s`)
    }
    throw busy()
  }

  /** Returns when the memory of the thread is free. */
  async stop(): Promise<void> {
    clearTimeout(this.#ending)
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./check-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMiB, maxYoungGenerationSizeMb: 16 },
      execArgv: [],
    })
    // Errors are answers of `run`; those of an idle thread end it.
    worker.on('error', () => {})
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }

  #rest(worker: Worker): void {
    worker.unref()
    this.#ending = globalThis.setTimeout(() => void this.stop(), this.#limits.idleMs)
    this.#ending.unref()
  }
}

const busy = () => new Refusal('too-many-checks', { headers: { 'retry-after': '5' } })

/** The memory of bytes that fill it: it is moved instead of copied. */
const transferable = ({ buffer, byteLength }: Uint8Array) =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
