import type { EffectiveRule } from '@gantry/contracts'
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
  /**
   * Checks the content of a rule set.
   * @returns the rules that are not off, by name
   * @throws DocumentInvalid with the places of faults; Refusal too-many-checks
   */
  tryRuleSet(content: string): Promise<EffectiveRule[]>
  /**
   * Applies a rule set that `tryRuleSet` has accepted, for somebody who waits for it. Calls wait for one another.
   * @param read reads the document, once the thread is free
   * @throws DocumentInvalid as `lint` does; Refusal too-many-checks
   */
  preview(read: () => Promise<Uint8Array>, content: string): Promise<Linted>
  stop(): Promise<void>
}

const LIMITS: ThreadLimits = { timeMs: 10_000, heapMiB: 256, idleMs: 10_000 }
/** A thread with low priority may wait for the processor for long. */
const LASTS_MS = 600_000
/** For the wait, and for the work. What a rule set is tried with is empty. */
const TRIAL_MS = 16_000
/** The gateway waits for 20 s. The work may need 10 s of processor time, and the start of the thread. */
const PREVIEW_MS = { wait: 3_000, lasts: 14_000 }
/** The memory of a thread stays as large as a document of this size made it. */
const LARGE_BYTES = 1_048_576

const APPLICATION = 'the application of the rules'

export function lintingThreads(log: Log, limits: ThreadLimits = LIMITS): Linting {
  const script = new URL('./lint-thread.ts', import.meta.url)
  const linting = new Thread<LintTask, LintAnswer>({ ...limits, script })
  const trying = new Thread<LintTask, LintAnswer>({ ...limits, script })
  const trials = new Slots(1)

  const refusal = (answer: LintAnswer) => {
    if ('errors' in answer) return new DocumentInvalid(answer.errors)
    log.error(answer, 'the rules of a set failed')
    return invalid('the rules failed')
  }

  const resultOf = (answer: LintAnswer): Linted => {
    if ('linted' in answer) return answer.linted
    throw refusal(answer)
  }

  const inTurn = async <Result>(waitMs: number, work: () => Promise<Result>): Promise<Result> => {
    const slot = await trials.take(undefined, { waitMs })
    if (!slot) throw busy()
    try {
      return await work()
    } finally {
      slot.release()
    }
  }

  return {
    async lint(bytes, content, signal) {
      signal?.throwIfAborted()
      const end = () => void linting.stop()
      signal?.addEventListener('abort', end, { once: true })
      const how = {
        keep: bytes.length < LARGE_BYTES,
        what: APPLICATION,
        lastsMs: LASTS_MS,
      }
      try {
        return resultOf(await linting.run({ bytes, content, awaited: false }, how))
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      } finally {
        signal?.removeEventListener('abort', end)
      }
    },
    tryRuleSet: content =>
      inTurn(TRIAL_MS, async () => {
        const task = { bytes: new Uint8Array(), content, awaited: true }
        const check = { keep: true, what: 'the check of the rules', lastsMs: TRIAL_MS }
        const answer = await trying.run(task, check)
        if ('rules' in answer) return answer.rules
        throw refusal(answer)
      }),
    preview: (read, content) =>
      inTurn(PREVIEW_MS.wait, async () => {
        const bytes = await read()
        const how = { keep: bytes.length < LARGE_BYTES, what: APPLICATION, lastsMs: PREVIEW_MS.lasts }
        return resultOf(await trying.run({ bytes, content, awaited: true }, how))
      }),
    async stop() {
      await Promise.all([linting.stop(), trying.stop()])
    },
  }
}
