import { DEFAULT_RULE_SET, RULE_SET_KINDS, type RuleSetSnapshot } from '@gantry/contracts'
import type { Actor, EventSchemas } from '@gantry/event-sourcing'

/** What a change sets. The content and the kinds of the built-in set are those of the release. */
export type RuleSetFields = Pick<RuleSetSnapshot, 'name' | 'description' | 'enabled' | 'kinds' | 'content'>

export type RuleSetEvent =
  | { type: 'RuleSetCreated'; data: RuleSetFields & { id: string; createdAt: string } }
  /** The first event of the built-in set, which exists before it. */
  | { type: 'RuleSetUpdated'; data: RuleSetFields & { updatedAt: string } }
  | { type: 'RuleSetDeleted'; data: { deletedAt: string } }

export interface LiveRuleSet {
  status: 'Live'
  record: RuleSetSnapshot
  /** Number of events of the stream: that of the built-in set is 0 until it is changed. */
  recordRevision: number
}

export type RuleSetState = { status: 'Absent' } | LiveRuleSet | { status: 'Deleted'; last: RuleSetSnapshot }

/** Every event type that this release knows, with its upcasters. */
export const ruleSetEvents: EventSchemas<RuleSetEvent> = {
  RuleSetCreated: [],
  RuleSetUpdated: [],
  RuleSetDeleted: [],
}

export const initialRuleSet: RuleSetState = { status: 'Absent' }

/**
 * The built-in rule set before its first change. Violations of the schema and lost references are found without it, and
 * `no-unsafe-markdown` fails for documents with null.
 */
export const defaultRuleSet: LiveRuleSet = {
  status: 'Live',
  record: {
    id: DEFAULT_RULE_SET,
    name: 'Recommended',
    description: 'What is recommended for most APIs',
    enabled: true,
    kinds: [...RULE_SET_KINDS],
    content:
      'extends: [recommended]\nrules:\n  struct: off\n  no-unresolved-refs: off\n  no-unsafe-markdown: off\n',
    builtIn: true,
    createdAt: null,
    updatedAt: null,
    updatedBy: null,
  },
  recordRevision: 0,
}

export function evolveRuleSet(
  state: RuleSetState,
  event: RuleSetEvent,
  revision: number,
  actor: Actor,
): RuleSetState {
  const recordRevision = revision + 1
  const updatedBy = actor.id
  switch (event.type) {
    case 'RuleSetCreated': {
      const { createdAt } = event.data
      const record = { ...event.data, builtIn: false, updatedAt: createdAt, updatedBy }
      return { status: 'Live', record, recordRevision }
    }
    case 'RuleSetUpdated': {
      if (state.status === 'Deleted') return state
      const isBuiltIn = state.status === 'Absent' || state.record.builtIn
      const { record } = isBuiltIn ? defaultRuleSet : (state as LiveRuleSet)
      const { updatedAt, kinds, content, ...named } = event.data
      const own = isBuiltIn ? {} : { kinds, content }
      return {
        status: 'Live',
        record: {
          ...record,
          ...named,
          ...own,
          createdAt: record.createdAt ?? updatedAt,
          updatedAt,
          updatedBy,
        },
        recordRevision,
      }
    }
    case 'RuleSetDeleted':
      return state.status === 'Live' ? { status: 'Deleted', last: state.record } : state
    default:
      event satisfies never
      return state
  }
}
