import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Refusal } from '@gantry/contracts'
import { DocumentInvalid, invalid } from '../check/checked.ts'

export interface ThreadLimits {
  /** Processor time of a task, in milliseconds. */
  timeMs: number
  /** Heap of the thread. */
  heapMiB: number
  /** Time after which the thread ends without work. */
  idleMs: number
}

interface ThreadOptions extends ThreadLimits {
  script: URL
}

/** Interval at which the processor time of a task is read. */
const POLL_MS = 100

/** A task exceeded its processor time. */
export class TooSlow extends DocumentInvalid {}

/** A thread that does one task after another. It is started when it is needed. */
export class Thread<Task extends { bytes: Uint8Array }, Answer> {
  readonly #options: ThreadOptions
  #worker: Worker | undefined
  #ending: NodeJS.Timeout | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /**
   * Calls must not overlap.
   * @param how.what what the task is called when it exceeds a limit
   * @param how.keep whether the thread is used again
   * @throws DocumentInvalid when the task exceeds a limit; Refusal too-many-checks after `lastsMs`
   */
  async run(
    task: Task,
    { what, keep, lastsMs }: { what: string; keep: boolean; lastsMs: number },
  ): Promise<Answer> {
    const { heapMiB } = this.#options
    clearTimeout(this.#ending)
    this.#worker ??= this.#start()
    const worker = this.#worker
    worker.ref()
    const over = new AbortController()
    const outOfMemory = () => invalid(`${what} needs more than ${heapMiB} MiB of memory`)
    try {
      const answered = Promise.race([
        once(worker, 'message', over).then(([answer]) => answer as Answer),
        once(worker, 'exit', over).then((): never => {
          throw outOfMemory()
        }),
        this.#exceeded(worker, what, lastsMs, over.signal),
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
  async #exceeded(worker: Worker, what: string, lastsMs: number, signal: AbortSignal): Promise<never> {
    const { timeMs } = this.#options
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
        throw new TooSlow(invalid(`${what} takes longer than ${timeMs / 1_000} s`).errors)
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
    const worker = new Worker(this.#options.script, {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMiB, maxYoungGenerationSizeMb: 16 },
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
    this.#ending = globalThis.setTimeout(() => void this.stop(), this.#options.idleMs)
    this.#ending.unref()
  }
}

export const busy = () => new Refusal('too-many-checks', { headers: { 'retry-after': '5' } })

/** The memory of bytes that fill it: it is moved instead of copied. */
const transferable = ({ buffer, byteLength }: Uint8Array) =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
