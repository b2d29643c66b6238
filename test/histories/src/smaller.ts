import type { History } from './history.ts'

/** Maximum number of runs to reduce one history. A run takes some tens of milliseconds. */
const PLAYS = 400

/**
 * Removes as many steps as possible from a failing history, and orders its calls by age where it still fails (Zeller and
 * Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). fast-check removes one step after the other,
 * which takes thousands of runs.
 */
export async function smaller(
  history: History,
  fails: (tried: History) => Promise<boolean>,
): Promise<History> {
  let { steps } = history
  let plays = 0
  const stillFails = async (tried: History['steps']) => {
    if (plays++ >= PLAYS || !(await fails({ ...history, steps: tried }))) return false
    steps = tried
    return true
  }
  for (let size = Math.ceil(steps.length / 2); size >= 1; ) {
    let left = false
    for (let from = 0; from < steps.length; ) {
      if (await stillFails(steps.toSpliced(from, size))) left = true
      else from += size
    }
    if (size > 1) size = Math.ceil(size / 2)
    else if (!left || plays >= PLAYS) break
  }
  for (const [index, step] of steps.entries()) {
    if (step.do === 'run' && step.order !== 0) await stillFails(steps.with(index, { ...step, order: 0 }))
  }
  return { ...history, steps }
}
