import { setImmediate } from 'node:timers/promises'
import { type Filter, type Query, ReadModelsUnavailable, type ValueCount } from '@gantry/stores'

/** Access to the file that the documents are in. */
export interface FileAccess {
  /** Runs the job in a transaction, which it can share with other jobs, and waits until it is committed. */
  write<T>(job: () => T): Promise<T>
  /** Runs a reading job. @throws ReadModelsUnavailable */
  read<T>(job: () => T): T
  /** Runs a reading job on one state of the file. @throws ReadModelsUnavailable */
  snapshot<T>(job: () => T): T
}

/** A page of a list: the sequence numbers of its documents, and the total if it was requested. */
export interface Page {
  seqs: number[]
  total: number
}

/** Answers filters and sorts over one collection. Fields of the queries must exist; terms must not be empty. */
export interface Lists {
  /**
   * @param options.take reads the documents of the page, in the state of the file that the page was found in
   * @throws ReadModelsUnavailable when the index is not ready in time
   */
  find<T>(query: Query, options: { counting: boolean; take(page: Page): T }): Promise<T>
  count(filter: Filter): Promise<number>
  facet(filter: Filter, field: string, limit: number): Promise<ValueCount[]>
}

export interface Waiting {
  /** How long a query waits for an index that is being built, in milliseconds. It then fails and can be tried again. */
  indexWaitMs: number
  /** The reason for the wait, for the error message. */
  making(): string
}

/**
 * Repeats an attempt until it has a result, with a turn of the event loop in between.
 * @throws ReadModelsUnavailable after `indexWaitMs`
 */
export async function untilAnswered<T>(
  { indexWaitMs, making }: Waiting,
  attempt: () => { value: T } | undefined,
): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const result = attempt()
    if (result) return result.value
    if (performance.now() - startedAt > indexWaitMs) throw new ReadModelsUnavailable(making())
    await setImmediate()
  }
}
