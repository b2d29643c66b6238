import { setImmediate } from 'node:timers/promises'
import { type Filter, type Query, ReadModelsUnavailable } from '@gantry/read-models'

/** Access to the file that the documents are in. */
export interface FileAccess {
  /** Runs the job in a transaction of its own or with others, and waits until it is committed. */
  write<T>(job: () => T): Promise<T>
  /** Runs the job, which reads. @throws ReadModelsUnavailable */
  read<T>(job: () => T): T
  /** The same, and the job sees one state of the file. */
  snapshot<T>(job: () => T): T
}

/** A page of a list, where its documents were stored, and the total if it was asked for. */
export interface Page {
  seqs: number[]
  total: number
}

/** Answers filters and sorts over one collection. Queries name known fields, and terms that are not empty. */
export interface Lists {
  /**
   * @param take reads the documents of the page, in the state of the file that it was found in
   * @throws ReadModelsUnavailable when the index is not made yet, after a while
   */
  find<T>(query: Query, options: { counting: boolean; take(page: Page): T }): Promise<T>
  count(filter: Filter): Promise<number>
}

export interface Waiting {
  /** How long a query waits for an index that is being made. It then fails, and may be tried again. */
  patienceMs: number
  /** What is being made, for the message. */
  making(): string
}

/**
 * Asks until there is an answer, and gives everything else a turn in between.
 * @throws ReadModelsUnavailable
 */
export async function untilAnswered<T>(
  { patienceMs, making }: Waiting,
  attempt: () => { value: T } | undefined,
): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const answer = attempt()
    if (answer) return answer.value
    if (performance.now() - startedAt > patienceMs) throw new ReadModelsUnavailable(making())
    await setImmediate()
  }
}
