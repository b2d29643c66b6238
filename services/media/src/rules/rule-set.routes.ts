import {
  createRuleSet,
  deleteRuleSet,
  getRuleSet,
  listRuleSets,
  MAX_RULE_SETS,
  Refusal,
  type RuleSetRecord,
  type SortBy,
  updateRuleSet,
} from '@gantry/contracts'
import { type AddRoute, page } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import { DocumentInvalid } from '../check/checked.ts'
import { refused } from '../document/document.upload.ts'
import type { RuleSetAggregate } from './rule-set.decide.ts'
import { readRuleSet } from './rule-set.format.ts'
import { allRuleSets, type RuleSetDocument } from './rule-set.projection.ts'

export interface RuleSetRoutes {
  ruleSet: RuleSetAggregate
  documents: Collection<RuleSetDocument>
}

export function ruleSetRoutes(route: AddRoute, { ruleSet, documents }: RuleSetRoutes): void {
  route(listRuleSets, async ({ query }) => {
    const all = (await allRuleSets(documents)).toSorted(orderBy(query.sort))
    const from = (query.page - 1) * query.size
    const content = all.slice(from, from + query.size).map(recordOf)
    return { status: 200, body: page(content, all.length, query) }
  })

  route(getRuleSet, async ({ params }) => ({ status: 200, ...(await current(params.rule_set_id)) }))

  route(createRuleSet, async ({ body: input, creationMetadata: metadata, newId }) => {
    await requireContent(input.content)
    if ((await documents.count({})) > MAX_RULE_SETS) throw tooMany()
    const id = newId()
    await ruleSet.execute(id, { type: 'CreateRuleSet', metadata, id, input })
    return { status: 201, ...(await current(id)), location: `/ruleSets/${id}` }
  })

  route(updateRuleSet, async ({ params: { rule_set_id: id }, body: input, metadata, ifMatch }) => {
    await requireContent(input.content)
    await ruleSet.execute(id, { type: 'UpdateRuleSet', metadata, id, input, ifMatch })
    return { status: 200, ...(await current(id)) }
  })

  route(deleteRuleSet, async ({ params: { rule_set_id: id }, metadata, ifMatch }) => {
    await ruleSet.execute(id, { type: 'DeleteRuleSet', metadata, id, ifMatch })
    return { status: 204 }
  })

  const current = async (id: string) => {
    const doc = (await allRuleSets(documents)).find(one => one.id === id)
    if (!doc) throw new Refusal('rule-set-not-found')
    return { body: recordOf(doc), revision: doc.recordRevision }
  }
}

/** @throws Refusal rule-set-invalid */
async function requireContent(content: string): Promise<void> {
  try {
    readRuleSet(content)
  } catch (error) {
    throw error instanceof DocumentInvalid ? refused(error.errors, 'rule-set-invalid') : error
  }
}

const tooMany = () =>
  new Refusal('too-many-rule-sets', {
    detail: `there may be ${MAX_RULE_SETS} rule sets beside the built-in one`,
    limit: MAX_RULE_SETS,
  })

const recordOf = ({ recordRevision, ...record }: RuleSetDocument): RuleSetRecord => record

const orderBy =
  (sort: readonly SortBy[]) =>
  (a: RuleSetDocument, b: RuleSetDocument): number => {
    for (const { field, direction } of [...sort, { field: 'id', direction: 'asc' }]) {
      const [first, second] = [a, b].map(one => one[field as 'name'] ?? '') as [string, string]
      if (first !== second) return first < second === (direction === 'asc') ? -1 : 1
    }
    return 0
  }
