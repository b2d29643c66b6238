import { Refusal } from '@gantry/event-sourcing'

/**
 * Runs what belongs to one key in the order of its numbers, and what belongs to different keys side by side. Work waits
 * for the work before it and fails with it, since it will be asked for again together with that one; a refusal, which
 * is final, holds up nothing.
 * @returns runs the work of a number, which is asked for in order; one that is asked for again begins anew from there
 */
export function inOrder(): (key: string, number: number, work: () => Promise<void>) => Promise<void> {
  const latest = new Map<string, { number: number; run: Promise<void> }>()
  return (key, number, work) => {
    const before = latest.get(key)
    const run = before && before.number < number ? before.run.catch(unlessRefused).then(work) : work()
    const entry = { number, run }
    latest.set(key, entry)
    // A failure is kept, so that what comes after it cannot slip past.
    const forget = () => {
      if (latest.get(key) === entry) latest.delete(key)
    }
    run.then(forget, error => {
      if (error instanceof Refusal) forget()
    })
    return run
  }
}

const unlessRefused = (error: unknown) => {
  if (!(error instanceof Refusal)) throw error
}
