import { DEFAULT_RULE_SET, type RuleSetSnapshot } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { type Collection, defineCollection } from '@gantry/stores'
import { defaultRuleSet, type RuleSetEvent, type RuleSetState } from './rule-set.ts'

export interface RuleSetDocument extends RuleSetSnapshot {
  recordRevision: number
}

export const ruleSets = defineCollection<RuleSetDocument>({
  name: 'media.rule-sets',
  version: 1,
  fields: { name: 'string' },
})

export const projectRuleSet: Project<RuleSetState, RuleSetEvent> = (id, { state, revision }) => {
  if (state.status === 'Absent') return []
  return [{ collection: ruleSets, id, doc: state.status === 'Live' ? documentOf(state) : null, revision }]
}

const documentOf = ({ record, recordRevision }: typeof defaultRuleSet): RuleSetDocument => ({
  ...record,
  recordRevision,
})

/** All rule sets; the built-in one has no document until it is changed. */
export async function allRuleSets(documents: Pick<Collection<RuleSetDocument>, 'list'>) {
  const stored = (await documents.list({ limit: 1_000 })).map(({ doc }) => doc)
  const isDefaultStored = stored.some(({ id }) => id === DEFAULT_RULE_SET)
  return isDefaultStored ? stored : [documentOf(defaultRuleSet), ...stored]
}
