import { isDeepStrictEqual } from 'node:util'
import { type Change, DEFAULT_RULE_SET, Refusal } from '@gantry/contracts'
import {
  type Aggregate,
  type CommandMetadata,
  type Conditional,
  type Decider,
  requireRevision,
} from '@gantry/event-sourcing'
import {
  defaultRuleSet,
  evolveRuleSet,
  initialRuleSet,
  type RuleSetEvent,
  type RuleSetFields,
  type RuleSetState,
  ruleSetEvents,
} from './rule-set.ts'

/** The content was checked: see `readRuleSet`. */
export type RuleSetCommand =
  | { type: 'CreateRuleSet'; metadata: CommandMetadata; id: string; input: RuleSetFields }
  | ({ type: 'UpdateRuleSet'; id: string; input: RuleSetFields } & Conditional)
  | ({ type: 'DeleteRuleSet'; id: string } & Conditional)

export type RuleSetAggregate = Aggregate<RuleSetState, RuleSetCommand, RuleSetEvent>

export const ruleSetDecider: Decider<RuleSetState, RuleSetCommand, RuleSetEvent> = {
  initial: initialRuleSet,
  events: ruleSetEvents,
  evolve: evolveRuleSet,
  describe,
  decide(stored, command) {
    const { now } = command.metadata
    const { id } = command
    if (command.type === 'CreateRuleSet') {
      if (stored.status !== 'Absent') throw new Refusal('write-conflict')
      return [{ type: 'RuleSetCreated', data: { id, ...command.input, createdAt: now } }]
    }
    const state = id === DEFAULT_RULE_SET && stored.status === 'Absent' ? defaultRuleSet : stored
    if (state.status !== 'Live') throw new Refusal('rule-set-not-found')
    const { record, recordRevision } = state
    requireRevision(command, recordRevision)
    switch (command.type) {
      case 'UpdateRuleSet': {
        const { name, description, enabled, kinds, content } = command.input
        const fields = { name, description, enabled, kinds, content }
        const isSameContent = content === record.content && isDeepStrictEqual(kinds, record.kinds)
        if (record.builtIn && !isSameContent)
          throw new Refusal('rule-set-built-in', { detail: 'its kinds and its content cannot be changed' })
        const isSame = Object.entries(fields).every(([field, value]) =>
          isDeepStrictEqual(value, record[field as keyof RuleSetFields]),
        )
        return isSame ? [] : [{ type: 'RuleSetUpdated', data: { ...fields, updatedAt: now } }]
      }
      case 'DeleteRuleSet':
        if (record.builtIn)
          throw new Refusal('rule-set-built-in', { detail: 'it cannot be deleted; it can be disabled' })
        return [{ type: 'RuleSetDeleted', data: { deletedAt: now } }]
      default:
        return command satisfies never
    }
  },
}

const ACTIONS = {
  RuleSetCreated: 'RULE_SET_CREATED',
  RuleSetUpdated: 'RULE_SET_UPDATED',
  RuleSetDeleted: 'RULE_SET_DELETED',
} as const

function describe(before: RuleSetState, event: RuleSetEvent, after: RuleSetState): Change | null {
  const [was, is] = [recordOf(before), recordOf(after)]
  const first = event.type === 'RuleSetUpdated' ? defaultRuleSet.record : null
  return {
    action: ACTIONS[event.type],
    resourceType: 'RULE_SET',
    resourceId: (is ?? was)?.id ?? '',
    before: was ?? first,
    after: is ?? null,
  }
}

const recordOf = (state: RuleSetState) => (state.status === 'Live' ? state.record : undefined)
