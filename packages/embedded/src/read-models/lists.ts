import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type CollectionDefinition,
  type Document,
  type Filter,
  type Query,
  ReadModelsUnavailable,
  type Search,
  type ValueCount,
} from '@gantry/stores'
import type { DocumentTable } from './document-table.ts'
import { Kept } from './kept-values.ts'
import { ListIndex } from './list-index.ts'
import { type Describing, ListQueries, type Page } from './list-queries.ts'

export interface FileAccess {
  /** Runs the job in a transaction, which it can share with other jobs, and waits until it is committed. */
  write<T>(job: () => T): Promise<T>
  /** Runs a reading job. @throws ReadModelsUnavailable */
  read<T>(job: () => T): T
  /** Runs a reading job on one state of the file. @throws ReadModelsUnavailable */
  snapshot<T>(job: () => T): T
  /** Runs a job in a transaction that is rolled back, which works on a full disk. @throws ReadModelsUnavailable */
  tentatively<T>(job: () => T): T
}

export interface ListsOptions extends FileAccess {
  /** Shared by the lists of the file. */
  kept: Kept
  /** How long a query waits for an index that is being built, in milliseconds. It then fails and can be tried again. */
  indexWaitMs: number
  /** The lists of another collection of the file, which a search reads as well. */
  listsOf(definition: CollectionDefinition<Document>): Lists
  /** Receives the progress of an index that takes long to build, every few seconds. */
  log(message: string): void
}

/** Changes applied at once, in some milliseconds. */
export const FEW_CHANGES = 100
/** Maximum time of one transaction while an index is built, in milliseconds. */
const TURN_MS = 10
const REPORT_MS = 5_000
/** Number of changes that the index is updated by together, unless a query comes first. One at a time takes twice as long. */
const CHANGES_AT_ONCE = 64

type Question<T> = (queries: ListQueries, describing: Describing) => { value: T } | undefined

/**
 * The lists of a collection, from an index in the file. The index is updated by the first write after a query, by each
 * CHANGES_AT_ONCE changes, and by a query, so that every query includes all changes. An index that is missing, because the
 * declaration of the collection has changed, is built in small transactions.
 *
 * Fields of queries must exist, and terms must not be empty. Queries throw ReadModelsUnavailable when the index is not built
 * in time.
 */
export class Lists {
  readonly #name: string
  readonly #documents: DocumentTable
  readonly #options: ListsOptions
  readonly #index: ListIndex
  readonly #queries: ListQueries
  #building: Promise<void> | undefined
  #wasAsked = false

  constructor(
    db: DatabaseSync,
    documents: DocumentTable,
    definition: CollectionDefinition<Document>,
    options: ListsOptions,
  ) {
    this.#name = definition.name
    this.#documents = documents
    this.#options = options
    this.#index = options.read(() => new ListIndex(db, documents, definition))
    this.#queries = new ListQueries(this.#index, options.kept)
    if (options.read(() => this.#index.behind()) > CHANGES_AT_ONCE) this.#buildAfterwards()
  }

  /** @param options.take reads the documents of the page, in the state of the file that the page was found in */
  find<T>(query: Query, { counting, take }: { counting: boolean; take(page: Page): T }): Promise<T> {
    return this.#answer(query, (queries, describing) => {
      const page = queries.find(query, { counting, ...describing })
      return page && { value: take(page) }
    })
  }

  count(filter: Filter): Promise<number> {
    return this.#answer(filter, (queries, describing) => {
      const value = queries.count(filter, describing)
      return value === undefined ? undefined : { value }
    })
  }

  facet(filter: Filter, field: string, limit: number): Promise<ValueCount[]> {
    return this.#answer(filter, (queries, describing) => {
      const value = queries.facet(filter, { field, limit, ...describing })
      return value && { value }
    })
  }

  /** To be called at the end of each transaction that changes the collection. */
  changed(): void {
    if (!this.#wasAsked && this.#index.behind() < CHANGES_AT_ONCE) return
    this.#wasAsked = false
    if (!this.#index.applyAll() || this.#index.owesWords()) this.#buildAfterwards()
  }

  /** Whether a query can be answered; begins to build what is missing. */
  #isReady(search: Search | undefined, failed: () => void): boolean {
    if (this.#index.behind() === 0 && (!search || this.#index.hasWords())) return true
    this.#build().catch(failed)
    return false
  }

  /** Asks until there is an answer, with a turn of the event loop in between. */
  async #answer<T>({ search }: Filter, question: Question<T>): Promise<T> {
    const { snapshot, tentatively, indexWaitMs, listsOf } = this.#options
    const startedAt = performance.now()
    const describing = (search?.described ?? []).map(({ by }) => listsOf(by))
    this.#wasAsked = true
    let failed = false
    const fail = () => {
      failed = true
    }
    for (;;) {
      const answer = snapshot(() => {
        const waiting = [this, ...describing].filter(lists => !lists.#isReady(search, fail))
        return waiting.length > 0
          ? undefined
          : question(this.#queries, { describing: describing.map(lists => lists.#index) })
      })
      if (answer) return answer.value
      if (performance.now() - startedAt > indexWaitMs)
        throw new ReadModelsUnavailable(snapshot(() => this.#progress()))
      await nextTurn()
      const tried = failed ? tentatively(() => this.#answerOnce(question, describing)) : undefined
      if (tried) return tried.value
    }
  }

  /** Includes all changes on a full disk, too. The slots are void after the rollback, so nothing of them is kept. */
  #answerOnce<T>(question: Question<T>, others: readonly Lists[]): { value: T } | undefined {
    if (![this, ...others].every(lists => lists.#index.applyAll())) return undefined
    const queries = new ListQueries(this.#index, new Kept())
    const describing = others.map(lists => lists.#index)
    for (;;) {
      const answer = question(queries, { describing })
      if (answer) return answer
    }
  }

  #build(): Promise<void> {
    this.#building ??= this.#catchUp().finally(() => {
      this.#building = undefined
    })
    return this.#building
  }

  async #catchUp(): Promise<void> {
    const { write, snapshot, log } = this.#options
    let reportedAt = performance.now()
    let reported = false
    while (!(await write(() => this.#applySome()))) {
      if (performance.now() - reportedAt > REPORT_MS) {
        reportedAt = performance.now()
        reported = true
        log(snapshot(() => this.#progress()))
      }
      await nextTurn()
    }
    if (reported) log(`the index of ${this.#name} is complete`)
  }

  /** @returns whether there is nothing left to apply */
  #applySome(): boolean {
    const startedAt = performance.now()
    const isOver = () => performance.now() - startedAt > TURN_MS
    while (!this.#index.catchUp(FEW_CHANGES)) if (isOver()) return false
    if (!this.#index.owesWords()) return true
    while (!this.#index.applyWords()) if (isOver()) return false
    return true
  }

  /** A failure is reported by the next query, which tries again. */
  #buildAfterwards(): void {
    setImmediate(() => this.#build().catch(() => {}))
  }

  #progress(): string {
    const { cursor } = this.#index.position()
    const last = this.#documents.last()
    if (cursor === last)
      return `the documents of ${this.#name} are being ${this.#index.hasWords() ? 'counted' : 'read for searches'}`
    return `the index of ${this.#name} is being built: ${cursor} of ${last} changes`
  }
}
