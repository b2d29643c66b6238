import { createHash } from 'node:crypto'
import type { BrokenRule, DocumentKind, DocumentRecord, Finding } from '@gantry/contracts'
import { type Collection, defineCollection, type ReadModels } from '@gantry/stores'
import type { StoredBytes } from '../bytes/bytes.ts'
import { type DocumentDocument, documents as documentCollection } from '../document/document.projection.ts'
import type { FoundByRules } from '../document/document.routes.ts'
import type { Linted } from './lint.ts'
import { allRuleSets, type RuleSetDocument, ruleSets } from './rule-set.projection.ts'

/** Increase it when the engine finds something else, or scores are defined otherwise: documents are then linted again. */
const ENGINE = 3

/** Which rules a document was linted by, and its score. Its id is that of the document. */
export interface LintDocument {
  id: string
  api: string
  sha256: string
  /** Keys of the rule sets, see `keyOf`. */
  sets: string[]
  score: number
}

/** Made again from the bytes and the rule sets when it is lost, so that no projector has it. */
export const lints = defineCollection<LintDocument>({
  name: 'media.lints',
  version: 1,
  fields: { sets: 'strings', score: 'number' },
})

/** What a rule set found in a document, or why it could not be applied. */
export type SetResult = Linted | { problem: string }

/** Names the content of a rule set: it changes with what it finds, and not with its name. */
export const keyOf = ({ id, kinds, content }: Pick<RuleSetDocument, 'id' | 'kinds' | 'content'>): string =>
  `${id}.${createHash('sha256')
    .update(JSON.stringify([ENGINE, kinds, content]))
    .digest('hex')
    .slice(0, 16)}`

/** The part of the points left that a broken rule takes: for one place in a large document, and for places all over it. */
const TAKES = { ERROR: { least: 0.05, most: 0.4 }, WARNING: { least: 0.01, most: 0.1 } }
/** A document with fewer operations and schemas counts as one with so many. */
const SMALLEST = 10

/**
 * 100 less what each broken rule takes of the points that the others leave: a part that grows with the number of its places
 * for each operation and schema. Errors of the check of its kind count as a rule, so do its warnings, and a rule set that
 * cannot be applied is a warning.
 */
export function scoreOf(
  { findings, counts }: Pick<DocumentRecord, 'findings' | 'counts'>,
  results: Iterable<SetResult>,
): number {
  const size = Math.max(SMALLEST, counts.operations + counts.schemas)
  const checked: Pick<BrokenRule, 'severity' | 'places'>[] = [
    { severity: 'ERROR', places: findings.errors },
    { severity: 'WARNING', places: findings.warnings },
  ]
  const left = [...checked, ...[...results].flatMap(brokenIn)]
    .filter(({ places }) => places > 0)
    .map(({ severity, places }) => {
      const { least, most } = TAKES[severity]
      return 1 - least - (most - least) * Math.min(1, places / size)
    })
  return Math.round(100 * left.reduce((product, part) => product * part, 1))
}

export interface EnabledSet extends RuleSetDocument {
  key: string
}

type StoredDocument = Pick<DocumentRecord, 'sha256' | 'kind'>

export interface Lints {
  collection: Collection<LintDocument>
  enabled(): Promise<EnabledSet[]>
  /** What a rule set, by its key, found in a document; undefined before it is applied. */
  result(document: StoredDocument, key: string): Promise<SetResult | undefined>
  keep(document: StoredDocument, key: string, result: SetResult): Promise<void>
  /** Deletes what a former content of a rule set found. */
  discard(document: StoredDocument, key: string): Promise<void>
  /** Scores by id. Documents of other kinds, and those that are not linted yet, have none. */
  scores(documents: readonly DocumentDocument[]): Promise<Map<string, number>>
  /** The lowest scores of APIs with documents below a score, the worst first. */
  worst(below: number, most: number): Promise<[api: string, score: number][]>
  findings(document: DocumentDocument): Promise<FoundByRules>
}

const PAGE = 1_000

const nameOf = (kind: DocumentKind, key: string) => `lint-${kind}-${key}`

export function lintsOf(bytes: StoredBytes, readModels: Pick<ReadModels, 'collection'>): Lints {
  const collection = readModels.collection(lints)
  const sets = readModels.collection(ruleSets)
  const documents = readModels.collection(documentCollection)
  const enabled = async () =>
    (await allRuleSets(sets)).filter(set => set.enabled).map(set => ({ ...set, key: keyOf(set) }))
  const result: Lints['result'] = async ({ sha256, kind }, key) => {
    const stored = await bytes.getDerived(nameOf(kind, key), sha256)
    return stored && JSON.parse(Buffer.from(stored).toString())
  }
  return {
    collection,
    enabled,
    result,
    keep: ({ sha256, kind }, key, made) =>
      bytes.putDerived(nameOf(kind, key), sha256, Buffer.from(JSON.stringify(made))),
    discard: ({ sha256, kind }, key) => bytes.deleteDerived(nameOf(kind, key), sha256),
    async scores(documents) {
      const found = await collection.getMany(documents.map(({ id }) => id))
      const hashes = new Map(documents.map(({ id, sha256 }) => [id, sha256]))
      const current = found.filter(({ doc }) => hashes.get(doc.id) === doc.sha256)
      return new Map(current.map(({ doc }) => [doc.id, doc.score]))
    },
    async worst(below, most) {
      const worst = new Map<string, number>()
      for (let skip = 0, more = true; more && worst.size < most; skip += PAGE) {
        const page = await collection.list({
          where: { score: { lt: below } },
          sort: [{ field: 'score', direction: 'asc' }],
          skip,
          limit: PAGE,
        })
        const existing = await documents.existing(page.map(({ doc }) => doc.id))
        for (const { doc } of page)
          if (existing.has(doc.id) && !worst.has(doc.api)) worst.set(doc.api, doc.score)
        more = page.length === PAGE
      }
      return [...worst].slice(0, most)
    },
    async findings(document) {
      const found = (await enabled()).map(async ({ key, name }) => {
        const made = await result(document, key)
        return made ? [{ name, result: made }] : []
      })
      const named = (await Promise.all(found)).flat()
      return {
        findings: named.flatMap(({ name, result }) =>
          findingsOf(result).map(finding => ({ ...finding, ruleSet: name })),
        ),
        rules: named.flatMap(({ name, result }) =>
          brokenIn(result).map(rule => ({ ...rule, ruleSet: name })),
        ),
        truncated: named.some(
          ({ result }) => 'findings' in result && result.findings.length < result.errors + result.warnings,
        ),
      }
    },
  }
}

const NOT_APPLIED = { severity: 'WARNING', code: 'rule-set-not-applied' } as const

const brokenIn = (result: SetResult): Linted['broken'] =>
  'broken' in result ? result.broken : [{ ...NOT_APPLIED, places: 1 }]

export const findingsOf = (result: SetResult): Finding[] =>
  'findings' in result
    ? result.findings
    : [{ ...NOT_APPLIED, message: result.problem, line: null, column: null, pointer: null }]
