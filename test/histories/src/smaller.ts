import type { History } from './history.ts'

/** Histories that are played to make one smaller; each takes some tens of milliseconds. */
const PLAYS = 400

/**
 * Leaves out steps of a history that fails, as many as possible, and puts the calls in plain order where it still
 * fails (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). fast-check shrinks one step
 * after the other, which takes thousands of plays.
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
