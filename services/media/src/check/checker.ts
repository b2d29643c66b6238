import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Refusal } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import { Slots } from '@gantry/service-runtime'
import type { CheckAnswer, CheckTask } from './check-thread.ts'
import { type Checked, type CheckOptions, DocumentInvalid, invalid } from './checked.ts'

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
  /** Checks at the same time. */
  threads: number
  /** Processor time of a check, in milliseconds. */
  timeMs: number
  /**
   * Time for the wait, the reading and the check together, in milliseconds. A document waits until only `timeMs` of it
   * is left.
   */
  lastsMs: number
  /** Heap of a thread. */
  heapMiB: number
  /** Checks that wait for a thread. */
  waiting: number
  /** Time after which a thread without work ends. */
  idleMs: number
}

/** The gateway gives up a change after 20 s, and 2 s of them may pass until the operations can be found. */
const LIMITS: CheckerLimits = {
  threads: 2,
  timeMs: 10_000,
  lastsMs: 16_000,
  heapMiB: 512,
  waiting: 100,
  idleMs: 10_000,
}
/** Interval at which the processor time of a check is read. */
const POLL_MS = 100
/** Documents of this size are checked one at a time, because a parsed document takes many times its size. */
const LARGE_BYTES = 4 * 1_048_576

/** Threads are started when they are needed. One whose check exceeds a limit is ended, and the next check has a new one. */
export function documentChecker(log?: Log, limits: CheckerLimits = LIMITS): Checker {
  const slots = new Slots(limits.threads)
  const largeSlots = new Slots(1)
  const threads = new Threads(limits)

  return {
    async check({ size, read }, options = {}) {
      if (slots.waiting + largeSlots.waiting >= limits.waiting) throw busy()
      const deadline = performance.now() + limits.lastsMs
      const left = () => Math.max(0, deadline - performance.now())
      const take = (from: Slots) => from.take(undefined, { waitMs: Math.max(0, left() - limits.timeMs) })
      const large = size >= LARGE_BYTES ? await take(largeSlots) : undefined
      const slot = size >= LARGE_BYTES && !large ? undefined : await take(slots)
      try {
        if (!slot) throw busy()
        const answer = await threads.run({ bytes: await read(), options }, { keep: !large, lastsMs: left() })
        if ('checked' in answer) return answer.checked
        if ('errors' in answer) throw new DocumentInvalid(answer.errors)
        log?.error({ failure: answer.failure }, 'a parser of documents failed')
        throw invalid('the document cannot be read: its parser failed')
      } finally {
        slot?.release()
        large?.release()
      }
    },
    stop: () => threads.stop(),
  }
}

class Threads {
  readonly #limits: CheckerLimits
  readonly #idle = new Set<Worker>()
  readonly #all = new Set<Worker>()

  constructor(limits: CheckerLimits) {
    this.#limits = limits
  }

  /** @param how.keep whether the thread is used again: its memory stays as large as a document has made it */
  async run(task: CheckTask, { keep, lastsMs }: { keep: boolean; lastsMs: number }): Promise<CheckAnswer> {
    const { heapMiB } = this.#limits
    const [resting] = this.#idle
    const worker = resting ?? this.#start()
    this.#idle.delete(worker)
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
      else void worker.terminate()
      return answer
    } catch (error) {
      await worker.terminate()
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

  async stop(): Promise<void> {
    await Promise.all([...this.#all].map(worker => worker.terminate()))
  }

  #start(): Worker {
    const worker = new Worker(new URL('./check-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMiB, maxYoungGenerationSizeMb: 32 },
      execArgv: [],
    })
    this.#all.add(worker)
    // Errors are answers of `run`; those of idle threads end the thread.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#all.delete(worker)
      this.#idle.delete(worker)
    })
    return worker
  }

  #rest(worker: Worker): void {
    this.#idle.add(worker)
    worker.unref()
    const ending = globalThis.setTimeout(() => {
      if (this.#idle.delete(worker)) void worker.terminate()
    }, this.#limits.idleMs)
    ending.unref()
  }
}

const busy = () => new Refusal('too-many-checks', { headers: { 'retry-after': '5' } })

/** The memory of bytes that fill it: it is moved instead of copied. */
const transferable = ({ buffer, byteLength }: Uint8Array) =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
