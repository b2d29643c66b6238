import { Refusal } from '@gantry/contracts'

/**
 * Serial execution by key: tasks of one key run in the order of their numbers, tasks of different keys run concurrently.
 * A task waits for its predecessor and fails with its error, since the caller repeats both. A refusal is final and does
 * not affect successors.
 * @returns schedules a task. Call with ascending numbers per key. A number that is not greater than the previous one
 *   restarts the sequence of the key at once.
 */
export function serialByKey(): (key: string, number: number, work: () => Promise<void>) => Promise<void> {
  const latest = new Map<string, { number: number; run: Promise<void> }>()
  return (key, number, work) => {
    const before = latest.get(key)
    const run = before && before.number < number ? before.run.catch(unlessRefused).then(work) : work()
    const entry = { number, run }
    latest.set(key, entry)
    // A failed task stays, so that its successors fail too until it is repeated.
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
