import type { Log } from '@gantry/event-sourcing'
import { Slots } from '@gantry/service-runtime'
import { DocumentInvalid, invalid } from '../check/checked.ts'
import { busy, Thread, type ThreadLimits } from '../document/thread.ts'
import type { Linted } from './lint.ts'
import type { LintAnswer, LintTask } from './lint-thread.ts'

/** Applies rule sets in threads of their own. */
export interface Linting {
  /**
   * Calls must not overlap.
   * @param signal ends the thread
   * @throws DocumentInvalid when the rules cannot be applied, e.g. within the limits; the reason of the signal
   */
  lint(document: Uint8Array, content: string, signal?: AbortSignal): Promise<Linted>
  /** Checks the content of a rule set. @throws DocumentInvalid with the places of faults; Refusal too-many-checks */
  tryRuleSet(content: string): Promise<void>
  stop(): Promise<void>
}

const LIMITS: ThreadLimits = { timeMs: 10_000, heapMiB: 256, idleMs: 10_000 }
/** A thread with low priority may wait for the processor for long. */
const LASTS_MS = 600_000
/** What a rule set is tried with is empty. */
const TRIAL_MS = 16_000
/** The memory of a thread stays as large as a document of this size made it. */
const LARGE_BYTES = 1_048_576

export function lintingThreads(log: Log, limits: ThreadLimits = LIMITS): Linting {
  const script = new URL('./lint-thread.ts', import.meta.url)
  const linting = new Thread<LintTask, LintAnswer>({ ...limits, script })
  const trying = new Thread<LintTask, LintAnswer>({ ...limits, script })
  const trials = new Slots(1)

  const resultOf = (answer: LintAnswer): Linted => {
    if ('linted' in answer) return answer.linted
    if ('errors' in answer) throw new DocumentInvalid(answer.errors)
    log.error({ failure: answer.failure }, 'the rules of a set failed')
    throw invalid('the rules failed')
  }

  return {
    async lint(bytes, content, signal) {
      signal?.throwIfAborted()
      const end = () => void linting.stop()
      signal?.addEventListener('abort', end, { once: true })
      const how = {
        keep: bytes.length < LARGE_BYTES,
        what: 'the application of the rules',
        lastsMs: LASTS_MS,
      }
      try {
        return resultOf(await linting.run({ bytes, content }, how))
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      } finally {
        signal?.removeEventListener('abort', end)
      }
    },
    async tryRuleSet(content) {
      const slot = await trials.take(undefined, { waitMs: TRIAL_MS })
      if (!slot) throw busy()
      try {
        const task = { bytes: new Uint8Array(), content }
        resultOf(await trying.run(task, { keep: true, what: 'the check of the rules', lastsMs: TRIAL_MS }))
      } finally {
        slot.release()
      }
    },
    async stop() {
      await Promise.all([linting.stop(), trying.stop()])
    },
  }
}
