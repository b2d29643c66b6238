import {
  createRuleSet,
  deleteRuleSet,
  type EffectiveRule,
  getRuleSet,
  invalidField,
  listEffectiveRules,
  listRuleSets,
  MAX_RULE_SETS,
  type Principal,
  previewRuleSet,
  Refusal,
  RULE_SET_KINDS,
  type RuleSetPreview,
  type RuleSetRecord,
  type SortBy,
  updateRuleSet,
} from '@gantry/contracts'
import { type AddRoute, page } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { StoredBytes } from '../bytes/bytes.ts'
import { DocumentInvalid } from '../check/checked.ts'
import type { DocumentDocument } from '../document/document.projection.ts'
import type { finding } from '../document/document.routes.ts'
import { refused } from '../document/document.upload.ts'
import { problemOf, setsFor } from './linter.ts'
import type { Linting } from './linting.ts'
import { findingsOf, keyOf, type Lints, type SetResult, scoreOf } from './lints.ts'
import type { RuleSetAggregate } from './rule-set.decide.ts'
import { allRuleSets, type RuleSetDocument } from './rule-set.projection.ts'

export interface RuleSetRoutes {
  ruleSet: RuleSetAggregate
  ruleSets: Collection<RuleSetDocument>
  documents: Pick<Collection<DocumentDocument>, 'count'>
  lints: Pick<Lints, 'collection' | 'enabled' | 'result'>
  linting: Pick<Linting, 'tryRuleSet' | 'preview'>
  bytes: Pick<StoredBytes, 'get'>
  findDocument: ReturnType<typeof finding>
}

export function ruleSetRoutes(route: AddRoute, rules: RuleSetRoutes): void {
  const { ruleSet, ruleSets, linting, findDocument } = rules
  const shown = showing(rules)

  route(listRuleSets, async ({ query }) => {
    const all = (await allRuleSets(ruleSets)).toSorted(orderBy(query.sort))
    const from = (query.page - 1) * query.size
    const content = await Promise.all(all.slice(from, from + query.size).map(shown))
    return { status: 200, body: page(content, all.length, query) }
  })

  route(getRuleSet, async ({ params }) => ({ status: 200, ...(await current(params.rule_set_id)) }))

  route(createRuleSet, async ({ body: input, creationMetadata: metadata, newId }) => {
    await requireContent(linting, input.content)
    const id = newId()
    const others = (await allRuleSets(ruleSets)).filter(one => !one.builtIn && one.id !== id)
    if (others.length >= MAX_RULE_SETS) throw tooMany()
    await ruleSet.execute(id, { type: 'CreateRuleSet', metadata, id, input })
    return { status: 201, ...(await current(id)), location: `/ruleSets/${id}` }
  })

  /** By content, which decides them. */
  const effective = new Map<string, EffectiveRule[]>()
  route(listEffectiveRules, async ({ params: { rule_set_id: id } }) => {
    const { content } = await find(id)
    const rules = effective.get(content) ?? (await requireContent(linting, content))
    if (effective.size > MAX_RULE_SETS) effective.clear()
    effective.set(content, rules)
    return { status: 200, body: { content: rules } }
  })

  route(updateRuleSet, async ({ params: { rule_set_id: id }, body: input, metadata, ifMatch }) => {
    if (input.content !== (await find(id)).content) await requireContent(linting, input.content)
    await ruleSet.execute(id, { type: 'UpdateRuleSet', metadata, id, input, ifMatch })
    return { status: 200, ...(await current(id)) }
  })

  route(deleteRuleSet, async ({ params: { rule_set_id: id }, metadata, ifMatch }) => {
    await ruleSet.execute(id, { type: 'DeleteRuleSet', metadata, id, ifMatch })
    return { status: 204 }
  })

  route(previewRuleSet, async ({ body, principal }) => {
    requireReader(principal)
    const document = await findDocument({ api_id: body.api, version_id: body.version }, body.document)
    if (!RULE_SET_KINDS.some(kind => kind === document.kind))
      throw invalidField('document', `must be of a kind with rules, ${RULE_SET_KINDS.join(' or ')}`)
    await requireContent(linting, body.content)
    return { status: 200, body: await previewOf(rules, document, body) }
  })

  const find = async (id: string) => {
    const doc = (await allRuleSets(ruleSets)).find(one => one.id === id)
    if (!doc) throw new Refusal('rule-set-not-found')
    return doc
  }

  const current = async (id: string) => {
    const doc = await find(id)
    const body = await shown(doc)
    return { body, revision: doc.recordRevision, variant: body.progress && JSON.stringify(body.progress) }
  }
}

/** @throws Refusal rule-set-invalid */
async function requireContent(linting: Pick<Linting, 'tryRuleSet'>, content: string) {
  try {
    return await linting.tryRuleSet(content)
  } catch (error) {
    throw error instanceof DocumentInvalid ? refused(error.errors, 'rule-set-invalid') : error
  }
}

/** The messages of findings quote the document. @throws Refusal scope-missing */
function requireReader({ scopes }: Principal): void {
  if (!scopes.includes('API_READ'))
    throw new Refusal('scope-missing', { detail: 'needs the scope API_READ', scope: 'API_READ' })
}

/** What rules find in a document, and its score if they replaced those of a rule set. */
async function previewOf(
  { bytes, lints, linting }: Pick<RuleSetRoutes, 'bytes' | 'lints' | 'linting'>,
  document: DocumentDocument,
  { content, ruleSet }: { content: string; ruleSet?: string | undefined },
): Promise<RuleSetPreview> {
  const read = async () => Uint8Array.from(await bytes.get(document.sha256))
  const result: SetResult = await linting
    .preview(read, content)
    .catch(error => ({ problem: problemOf(error) }))
  const others = setsFor(document, await lints.enabled()).filter(({ id }) => id !== ruleSet)
  const known = await Promise.all(others.map(({ key }) => lints.result(document, key)))
  const score = scoreOf(document, [result, ...known.flatMap(one => one ?? [])])
  const findings = findingsOf(result)
  const { errors, warnings } = 'problem' in result ? { errors: 0, warnings: 1 } : result
  return { score, errors, warnings, findings, truncated: findings.length < errors + warnings }
}

const tooMany = () =>
  new Refusal('too-many-rule-sets', {
    detail: `there may be ${MAX_RULE_SETS} rule sets beside the built-in one`,
    limit: MAX_RULE_SETS,
  })

/** The record of a rule set with the number of documents that it was applied to. */
const showing =
  ({ documents, lints }: Pick<RuleSetRoutes, 'documents' | 'lints'>) =>
  async ({ recordRevision, ...record }: RuleSetDocument): Promise<RuleSetRecord> => {
    if (!record.enabled) return { ...record, progress: null }
    const [linted, total] = await Promise.all([
      lints.collection.count({ where: { sets: keyOf(record) } }),
      documents.count({ where: { kind: { in: record.kinds } } }),
    ])
    return { ...record, progress: { linted: Math.min(linted, total), total } }
  }

const orderBy =
  (sort: readonly SortBy[]) =>
  (a: RuleSetDocument, b: RuleSetDocument): number => {
    for (const { field, direction } of [...sort, { field: 'id', direction: 'asc' }]) {
      const [first, second] = [a, b].map(one => one[field as 'name'] ?? '') as [string, string]
      if (first !== second) return first < second === (direction === 'asc') ? -1 : 1
    }
    return 0
  }
