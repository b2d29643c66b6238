import { RULE_SET_KINDS } from '@gantry/contracts'
import { superviseUnderLease, type Worker } from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { Dependencies, ServiceProcess } from '@gantry/service-runtime'
import { type Collection, type Lease, REMOVALS_KEPT_MS } from '@gantry/stores'
import { BytesLost, type StoredBytes } from '../bytes/bytes.ts'
import { DocumentInvalid } from '../check/checked.ts'
import type { DocumentDocument } from '../document/document.projection.ts'
import { TooSlow } from '../document/thread.ts'
import type { Linting } from './linting.ts'
import {
  lints as definition,
  type EnabledSet,
  type LintDocument,
  type Lints,
  type SetResult,
  scoreOf,
} from './lints.ts'

export interface LinterOptions extends Pick<Dependencies, 'readModels' | 'now'> {
  documents: Pick<Collection<DocumentDocument>, 'list' | 'count' | 'existing'>
  lints: Lints
  linting: Pick<Linting, 'lint'>
  bytes: Pick<StoredBytes, 'get'>
  process: Pick<ServiceProcess, 'holder' | 'log'>
}

/** Name of the checkpoint and the lease. */
const NAME = 'media.linter'
const POLL_MS = 1_000
/** Time between two comparisons of the numbers of documents and of their scores. */
const REVIEW_MS = 60_000
/** How far the clocks of replicas may differ: documents that are older by this than the last one are read again. */
const SKEW_MS = 60_000
const PAGE = 1_000
/** Documents that are looked through together for the next one to lint: they are read again after it. */
const LOOKED_THROUGH = 100
const LINTED = { kind: { in: RULE_SET_KINDS } }
/**
 * A rule set that needs too much time for so many documents of less than `SMALL_BYTES` in a row is not tried again. The
 * built-in one always is: patterns in the documents are to blame.
 */
const MAX_FAILURES = 3
const SMALL_BYTES = 1_048_576

/**
 * Lints the documents that have arrived, and all documents after a change of the rules. The record of each document says
 * which rules it was linted by, so that a restart continues where it was. One process does it, by lease: the records are
 * fenced by it, and an earlier holder's bytes name the rules that they are of.
 */
export function startLinter(options: LinterOptions): Worker {
  const { readModels, process } = options
  const { holder, log } = process
  return superviseUnderLease({ leases: readModels.leases, name: NAME, holder, log }, (lease, signal) =>
    new Linter(options, lease, signal).run(),
  )
}

/** A place among the documents in the order of their changes. All before it are linted by the rules. */
interface Cursor {
  since: string
}

class Linter {
  readonly #options: LinterOptions
  readonly #lease: Lease
  readonly #signal: AbortSignal
  /** By the keys of rule sets: the number of documents in a row that they could not be applied to. */
  readonly #failures = new Map<string, number>()

  constructor(options: LinterOptions, lease: Lease, signal: AbortSignal) {
    this.#options = options
    this.#lease = lease
    this.#signal = signal
  }

  async run(): Promise<void> {
    const signal = this.#signal
    const { now } = this.#options
    const all: Cursor = { since: '' }
    // Documents that arrive do not wait for the others.
    const recent: Cursor = { since: now().toISOString() }
    let rules = ''
    let reviewedAt = performance.now()
    while (!signal.aborted) {
      const sets = await this.#options.lints.enabled()
      const current = sets.map(({ key }) => key).join()
      if (current !== rules) all.since = ''
      rules = current
      const next = (await this.#nextStale(recent, sets)) ?? (await this.#nextStale(all, sets))
      if (next) await this.#lint(next, sets)
      else {
        recent.since = [recent.since, earlier(now(), SKEW_MS)].toSorted()[0] ?? ''
        if (performance.now() - reviewedAt > REVIEW_MS) {
          if (!(await this.#isComplete())) all.since = ''
          reviewedAt = performance.now()
        }
        await sleep(POLL_MS, { signal })
      }
    }
  }

  /** The next document that is not linted by the rules as they are. */
  async #nextStale(cursor: Cursor, sets: readonly EnabledSet[]): Promise<DocumentDocument | undefined> {
    const { documents, lints } = this.#options
    for (let more = true; more; ) {
      const found = await documents.list({
        where: { ...LINTED, updatedAt: { gte: cursor.since } },
        sort: [{ field: 'updatedAt', direction: 'asc' }],
        limit: LOOKED_THROUGH,
      })
      const stored = await lints.collection.getMany(found.map(({ doc }) => doc.id))
      const known = new Map(stored.map(({ doc }) => [doc.id, doc]))
      const stale = found.find(({ doc }) => isStale(doc, known.get(doc.id), sets))
      const { updatedAt } = (stale ?? found.at(-1))?.doc ?? { updatedAt: cursor.since }
      more = found.length === LOOKED_THROUGH && updatedAt > cursor.since
      cursor.since = updatedAt
      if (stale) return stale.doc
    }
    return undefined
  }

  /** Whether exactly the documents have scores. Forgets those of removed documents. */
  async #isComplete(): Promise<boolean> {
    const { documents, lints, readModels } = this.#options
    const [wanted, scored] = await Promise.all([
      documents.count({ where: LINTED }),
      lints.collection.count({}),
    ])
    if (wanted === scored) return true
    let ids: string[] = []
    const removeLost = async () => {
      const existing = await documents.existing(ids)
      const lost = await lints.collection.getMany(ids.filter(id => !existing.has(id)))
      const writes = lost.map(({ doc: { id }, revision }) => ({
        ...{ collection: definition, id, doc: null },
        revision: revision + 1,
      }))
      await readModels.write(writes, this.#fenced())
      ids = []
    }
    for await (const id of lints.collection.ids()) if (ids.push(id) === PAGE) await removeLost()
    await removeLost()
    await lints.collection.forgetRemoved(REMOVALS_KEPT_MS)
    return false
  }

  async #lint(document: DocumentDocument, sets: readonly EnabledSet[]): Promise<void> {
    const { lints, readModels } = this.#options
    const { id, api, sha256 } = document
    const applied = setsFor(document, sets)
    const results: SetResult[] = []
    for (const set of applied) results.push(await this.#resultOf(document, set))
    const doc = { id, api, sha256, sets: keysOf(applied), score: scoreOf(document, results) }
    const before = await lints.collection.latest(id)
    const revision = (before?.revision ?? 0) + 1
    await readModels.write([{ collection: definition, id, doc, revision }], this.#fenced())
    const former = before?.doc?.sha256 === sha256 ? before.doc.sets : []
    for (const key of former.filter(key => !doc.sets.includes(key))) await lints.discard(document, key)
  }

  /** What the rule set found before, or finds now. */
  async #resultOf(document: DocumentDocument, set: EnabledSet): Promise<SetResult> {
    const { lints } = this.#options
    const known = await lints.result(document, set.key)
    if (known) return known
    const result = await this.#apply(document, set)
    await lints.keep(document, set.key, result)
    return result
  }

  async #apply(document: DocumentDocument, set: EnabledSet): Promise<SetResult> {
    const { bytes, linting, process } = this.#options
    const { id, key, content, builtIn } = set
    const failures = this.#failures.get(key) ?? 0
    if (failures >= MAX_FAILURES)
      return {
        problem: `the rules were not applied: they needed too much time for ${failures} documents in a row`,
      }
    try {
      const read = Uint8Array.from(await bytes.get(document.sha256))
      const linted = await linting.lint(read, content, this.#signal)
      this.#failures.delete(key)
      return linted
    } catch (error) {
      const problem = problemOf(error)
      if (error instanceof TooSlow && !builtIn && document.size < SMALL_BYTES)
        this.#failures.set(key, failures + 1)
      process.log.warn({ ruleSet: id, document: document.id, problem }, 'a rule set was not applied')
      return { problem }
    }
  }

  #fenced() {
    return { name: NAME, position: this.#options.now().toISOString(), lease: this.#lease }
  }
}

export const setsFor = ({ kind }: DocumentDocument, sets: readonly EnabledSet[]) =>
  sets.filter(({ kinds }) => kinds.some(one => one === kind))

const keysOf = (sets: readonly EnabledSet[]) => sets.map(({ key }) => key).toSorted()

const isStale = (document: DocumentDocument, lint: LintDocument | undefined, sets: readonly EnabledSet[]) =>
  lint?.sha256 !== document.sha256 || lint.sets.join() !== keysOf(setsFor(document, sets)).join()

/** Why a rule set cannot be applied to a document. @throws errors that may be over in the next try */
export function problemOf(error: unknown): string {
  if (error instanceof BytesLost) return 'the bytes of the document are lost'
  if (!(error instanceof DocumentInvalid)) throw error
  return error.errors[0]?.message ?? 'the rules were not applied'
}

const earlier = (time: Date, ms: number) => new Date(time.getTime() - ms).toISOString()
