import { join } from 'node:path'
import { DEFAULT_RULE_SET } from '@gantry/contracts'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { DocumentInvalid } from '../check/checked.ts'
import { type RuleSetCommand, ruleSetDecider } from './rule-set.decide.ts'
import { readRuleSet } from './rule-set.format.ts'
import { projectRuleSet } from './rule-set.projection.ts'
import { defaultRuleSet, type RuleSetEvent, type RuleSetFields } from './rule-set.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'ruleset',
  decider: ruleSetDecider,
  project: projectRuleSet,
})

const id = '3f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b07'
const fields: RuleSetFields = {
  name: 'House rules',
  description: null,
  enabled: true,
  kinds: ['openapi'],
  content: 'rules: {info-contact: warn}',
}
const { name, description, enabled, kinds, content } = defaultRuleSet.record
const builtIn: RuleSetFields = { name, description, enabled, kinds, content }
const { given } = story(ruleSetDecider)
const created: RuleSetEvent = { type: 'RuleSetCreated', data: { id, ...fields, createdAt: metadata.now } }
const deleted: RuleSetEvent = { type: 'RuleSetDeleted', data: { deletedAt: metadata.now } }
const updated = (input: RuleSetFields): RuleSetEvent => ({
  type: 'RuleSetUpdated',
  data: { ...input, updatedAt: metadata.now },
})
const create: RuleSetCommand = { type: 'CreateRuleSet', metadata, id, input: fields }
const update = (input: RuleSetFields, more = {}): RuleSetCommand => ({
  ...{ type: 'UpdateRuleSet', metadata, id, input },
  ...more,
})
const remove = (of = id): RuleSetCommand => ({ type: 'DeleteRuleSet', metadata, id: of })

describe('a rule set', () => {
  test('is created, replaced and deleted', () => {
    given().when(create).then(created)
    const disabled = { ...fields, enabled: false }
    given(created).when(update(disabled)).then(updated(disabled))
    given(created).when(update(fields)).then()
    given(created).when(remove()).then(deleted)
    given(created, deleted).when(remove()).thenRefused('rule-set-not-found')
    given().when(update(fields)).thenRefused('rule-set-not-found')
  })
  test('changes only as its caller has seen it', () => {
    given(created)
      .when(update({ ...fields, name: 'b' }, { ifMatch: [0] }))
      .thenRefused('precondition-failed')
    given(created)
      .when(update({ ...fields, name: 'b' }, { ifMatch: [1] }))
      .then(updated({ ...fields, name: 'b' }))
  })
})

describe('the built-in rule set', () => {
  const ofDefault = { id: DEFAULT_RULE_SET }
  test('gets a name and is disabled, before and after its first change', () => {
    const named = { ...builtIn, name: 'Basics' }
    given().when(update(named, ofDefault)).then(updated(named))
    given(updated(named))
      .when(update({ ...named, enabled: false }, ofDefault))
      .then(updated({ ...named, enabled: false }))
    expect(given(updated(named)).state).toMatchObject({ record: { builtIn: true, name: 'Basics' } })
  })
  test('keeps its content, and is not deleted', () => {
    given().when(update(fields, ofDefault)).thenRefused('rule-set-built-in')
    given().when(remove(DEFAULT_RULE_SET)).thenRefused('rule-set-built-in')
  })
  test('has the content of the release, whatever was stored', () => {
    expect(given(updated({ ...builtIn, content: 'extends: [minimal]' })).state).toMatchObject({
      record: { content },
    })
  })
})

describe('the content of a rule set', () => {
  const faults = (text: string) => {
    try {
      readRuleSet(text)
      return []
    } catch (error) {
      if (!(error instanceof DocumentInvalid)) throw error
      return error.errors
    }
  }
  test.for([
    ['extends: [minimal]\nrules:\n  info-contact: warn'],
    ['{"rules": {"info-contact": {"severity": "error"}}}'],
    ['rules:\n  rule/a: {subject: {type: Info}, assertions: {pattern: /^a/i}}'],
    ['{}'],
  ])('may be %j', ([text]) => expect(faults(text as string)).toEqual([]))

  test.for([
    ['extends:\n  - https://example.com/rules.yaml', 2, /built-in/],
    ['extends: [./rules.yaml]', 1, /built-in/],
    ['extends: [recommended, all]', 1, /built-in/],
    ['extends: recommended', 1, /list/],
    ['rules: {}\nplugins: [./plugin.js]', 2, /plugins is not allowed/],
    ['rules:\n  mine/check: error', 2, /plugins/],
    ['rules:\n  rule/a:\n    assertions:\n      mine/check: true', 4, /functions/],
    ['rules:\n  rule/a:\n    where:\n      - assertions: {mine/check: true}', 4, /functions/],
    ['rules:\n  rule/a:\n    assertions: {schema: {$ref: "https://example.com/a"}}', 3, /references/],
    ['rules:\n  $ref: ./rules.yaml', 2, /severity/],
    ['rules:\n  info-contact: fatal', 2, /severity/],
    ['rules:\n  rule/a:\n    assertions: {pattern: "(a"}', 3, /regular expression/i],
    ['rules: [info-contact]', 1, /object/],
    ['- rules', 1, /object/],
    ['rules:\n\tx', 2, /tab/i],
    ['{"rules": {},}', 1, /property name/i],
  ] as const)('is not %j', ([text, line, message]) => {
    const [fault] = faults(text)
    expect(fault).toMatchObject({ line, message: expect.stringMatching(message) })
    expect(fault?.column).toBeGreaterThan(0)
  })
})
