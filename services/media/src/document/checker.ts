import type { DocumentKind } from '@gantry/contracts'
import type { Log } from '@gantry/event-sourcing'
import { inTime } from '@gantry/pacing'
import { Slots } from '@gantry/service-runtime'
import { type Checked, type CheckOptions, DocumentInvalid, invalid } from '../check/checked.ts'
import type { Comparison } from '../compare/changes.ts'
import type { CheckAnswer, CheckTask } from './check-thread.ts'
import { busy, Thread, type ThreadLimits } from './thread.ts'

export interface Checker {
  /**
   * Checks a document in a thread of its own, so that no request waits for it.
   * @param document.read reads the document, once a thread is free
   * @param document.lastsMs time for the wait, the reading and the check together, in milliseconds, if not the default
   * @throws DocumentInvalid; Refusal too-many-checks when it cannot end in time
   */
  check(document: CheckedDocument, options?: CheckOptions): Promise<Checked>
  /**
   * Compares two documents in the same way.
   * @param lastsMs time for the wait, the reading and the comparison together, in milliseconds
   * @throws DocumentInvalid when one of them cannot be read; Refusal too-many-checks
   */
  compare(before: StoredDocument, after: StoredDocument, lastsMs?: number): Promise<Comparison>
  /** Ends the threads. */
  stop(): Promise<void>
}

interface CheckedDocument {
  size: number
  read(): Promise<Uint8Array>
  lastsMs?: number
}

type StoredDocument = Omit<CheckedDocument, 'lastsMs'> & { kind: DocumentKind }

export interface CheckerLimits extends ThreadLimits {
  /**
   * Time for the wait, the reading and the check together, in milliseconds. A document waits until only `timeMs` of it
   * is left.
   */
  lastsMs: number
  /** Checks that wait for the thread. */
  waiting: number
}

/**
 * The gateway gives up a document after 50 s, and 2 s of them may pass until the operations can be found. 20 MiB of dense
 * YAML take 500 MiB. JSON takes no more with a high limit than with a low one.
 */
const LIMITS: CheckerLimits = {
  timeMs: 10_000,
  lastsMs: 46_000,
  heapMiB: 512,
  waiting: 100,
  idleMs: 10_000,
}
/** Time after which a thread is ended that gets no processor time, in milliseconds. */
const GIVEN_UP_MS = 600_000
/** Documents of this size wait for smaller ones, and the thread ends after one: its memory stays as large as they made it. */
const LARGE_BYTES = 4 * 1_048_576
const isLarge = (size: number) => size >= LARGE_BYTES

/**
 * Documents are checked and compared one at a time, because a parsed document takes many times its size. The next task after
 * one that exceeded a limit has a new thread. A task goes on after its caller has gone: on a busy machine no thread would ever
 * be started otherwise.
 */
export function documentChecker(log?: Log, limits: CheckerLimits = LIMITS): Checker {
  const slots = new Slots<number>(1, (a, b) => Number(isLarge(a)) - Number(isLarge(b)))
  const script = new URL('./check-thread.ts', import.meta.url)
  const thread = new Thread<CheckTask, CheckAnswer>({ ...limits, script })

  const run = async (
    what: string,
    { size, lastsMs, waitMs }: { size: number; lastsMs: number; waitMs: number },
    read: () => Promise<CheckTask>,
  ) => {
    if (slots.waiting >= limits.waiting) throw busy()
    const deadline = performance.now() + lastsMs
    const left = () => Math.max(0, deadline - performance.now())
    const slot = await slots.take(size, { waitMs })
    if (!slot) throw busy()
    const running = read()
      .then(task => thread.run(task, { what, keep: !isLarge(size), lastsMs: GIVEN_UP_MS }))
      .finally(() => slot.release())
    const answer = await inTime(running, left())
    if (answer === undefined) throw busy()
    if ('errors' in answer) throw new DocumentInvalid(answer.errors)
    if (!('failure' in answer)) return answer
    log?.error({ failure: answer.failure }, `${what} failed`)
    throw invalid('the document cannot be read: its parser failed')
  }

  return {
    async check({ size, read, lastsMs = limits.lastsMs }, options = {}) {
      const waitMs = Math.max(0, lastsMs - limits.timeMs)
      const answer = await run('the check of the document', { size, lastsMs, waitMs }, async () => ({
        bytes: await read(),
        options,
      }))
      return (answer as { checked: Checked }).checked
    },
    async compare(before, after, lastsMs = limits.lastsMs) {
      const read = async ({ kind, read }: StoredDocument) => ({ kind, bytes: await read() })
      const times = { size: before.size + after.size, lastsMs, waitMs: lastsMs / 2 }
      const answer = await run('the comparison of the documents', times, async () => ({
        ...(await read(after)),
        before: await read(before),
      }))
      return (answer as { diff: Comparison }).diff
    },
    stop: () => thread.stop(),
  }
}
