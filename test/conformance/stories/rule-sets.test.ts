import {
  DEFAULT_RULE_SET,
  type DocumentFinding,
  type EffectiveRule,
  ROLE_SCOPES,
  type RuleSetPreview,
  type ScoredDocument,
} from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import { createApi, createVersion, listApis } from '../src/apis.ts'
import type { Client } from '../src/client.ts'
import { admin, cleanUp, eventually, unique } from '../src/gantry.ts'
import type { Page, RuleSet } from '../src/records.ts'
import { createToken, userWithRole, withToken } from '../src/users.ts'

const ruleSet = (content: string, more: object = {}) => ({ name: unique('rules'), content, ...more })
const created = async (input: object) => {
  const answer = await admin.post('/ruleSets', input)
  const made = answer.as<RuleSet>(201)
  cleanUp(`/ruleSets/${made.id}`)
  return made
}

describe.concurrent('rule sets', () => {
  test('are created, listed, replaced and deleted', async () => {
    const input = ruleSet('rules:\n  info-contact: warn\n', { enabled: false, kinds: ['asyncapi'] })
    const { id, ...rest } = await created(input)
    expect(rest).toMatchObject({ ...input, description: null, builtIn: false })
    const { content } = (await admin.get('/ruleSets', { size: 100 })).as<Page<RuleSet>>(200)
    expect(content.map(one => one.id)).toEqual(expect.arrayContaining([id, DEFAULT_RULE_SET]))
    const path = `/ruleSets/${id}`
    const read = await admin.get(path)
    const replaced = { ...read.as<RuleSet>(200), description: 'Ours' }
    const put = await admin.put(path, replaced, { headers: { 'if-match': read.headers.get('etag') ?? '' } })
    expect(put.as<RuleSet>(200)).toMatchObject({ description: 'Ours', enabled: false })
    ;(await admin.delete(path)).is(204)
    ;(await admin.get(path)).refused(404, 'rule-set-not-found')
  })

  test('are changed by administrators alone', async () => {
    const { client } = userWithRole('USER')
    ;(await client.get('/ruleSets')).is(200)
    ;(await client.post('/ruleSets', ruleSet('rules: {}'))).refused(403, 'scope-missing')
    expect(ROLE_SCOPES.ADMIN).toContain('RULE_SETS_WRITE')
  })

  test('tell the rules that they apply, and not those that are off', async () => {
    const rule = 'rule/title: {subject: {type: Info, property: title}, assertions: {pattern: ^A}}'
    const content = `extends: [recommended]\nrules: {operation-summary: off, ${rule}}\noas3_1Rules: {info-license: error}`
    const { id } = await created(ruleSet(content, { enabled: false }))
    const { content: rules } = (await admin.get(`/ruleSets/${id}/rules`)).as<{ content: EffectiveRule[] }>(
      200,
    )
    expect(rules.filter(({ name }) => /^info-license$|operation-summary|title/.test(name))).toEqual([
      { name: 'info-license', severity: 'WARNING', formats: ['oas2', 'oas3_0', 'oas3_2'] },
      { name: 'info-license', severity: 'ERROR', formats: ['oas3_1'] },
      {
        ...{ name: 'rule/title', severity: 'ERROR' },
        formats: ['oas2', 'oas3_0', 'oas3_1', 'oas3_2', 'async2', 'async3'],
      },
    ])
    expect(rules.length).toBeGreaterThan(10)
  })

  test('have one that is built in, with recommended rules', async () => {
    const path = `/ruleSets/${DEFAULT_RULE_SET}`
    const record = (await admin.get(path)).as<RuleSet>(200)
    expect(record).toMatchObject({ builtIn: true, enabled: true })
    const { progress, ...same } = record
    expect((await admin.put(path, record)).as<RuleSet>(200)).toMatchObject(same)
    ;(await admin.put(path, { ...record, content: 'rules: {}' })).refused(409, 'rule-set-built-in')
    ;(await admin.delete(path)).refused(409, 'rule-set-built-in')
  })

  test('give documents findings and a score, to callers who may read them', async () => {
    const tag = unique('tag')
    const api = await createApi({ tags: [tag] })
    const version = await createVersion(api)
    const path = `/apis/${api.id}/versions/${version.id}/documents`
    const body = 'openapi: 3.1.0\ninfo: {title: Pets, version: 1.0.0}\npaths: {}\nservers: [{url: /}]\n'
    ;(await admin.put(`${path}/pets.yaml`, undefined, { body })).is(201)
    const rules = `rules:\n  rule/${unique('a')}: {subject: {type: Info, property: title}, assertions: {pattern: ^A}}`
    const asked = { content: rules, api: api.id, version: version.name, document: 'pets.yaml' }
    const preview = (await admin.post('/ruleSets/preview', asked)).as<RuleSetPreview>(200)
    expect(preview).toMatchObject({ errors: 1, findings: [{ line: 2, column: 8 }], truncated: false })
    const { id, name } = await created(ruleSet(rules))
    const findingsOf = async (client: Client) =>
      (await client.get(`${path}/pets.yaml/findings`, { size: 100 })).as<Page<DocumentFinding>>(200).content
    await eventually(async () => {
      const own = (await findingsOf(admin)).filter(({ ruleSet }) => ruleSet === name)
      expect(own).toMatchObject([{ severity: 'ERROR', line: 2, column: 8, pointer: '/info/title' }])
    })
    const [document] = (await admin.get(path)).as<Page<ScoredDocument>>(200).content
    expect(document?.score).toBeLessThanOrEqual(90)
    expect((await admin.get(`/ruleSets/${id}`)).as<RuleSet>(200).progress?.linted).toBeGreaterThan(0)
    const { content: worst } = await listApis({ tags: tag, scoreBelow: 95 })
    expect(worst).toMatchObject([{ id: api.id, score: document?.score }])
    const reader = withToken((await createToken(admin, ['API_READ'])).token)
    expect((await findingsOf(reader)).filter(({ ruleSet }) => ruleSet !== null)).toEqual([])
  })

  test.for([
    ['extends: [https://example.com/rules.yaml]', 1, 11],
    ['rules: {}\nextends:\n  - ../rules.yaml', 3, 5],
    ['plugins: [./rules.js]\nrules: {}', 1, 1],
    ['rules:\n  rule/a: {subject: {type: Info}, assertions: {mine/check: true}}', 2, 48],
    ['rules:\n  info-contact: [', 2, 18],
    ['rules:\n  no-such-rule: error', 2, 3],
    ['rules:\n  rule/a: {subject: {type: Info}, assertions: {pattern: "("}}', 2, 48],
  ] as const)('with the content %j are refused', async ([content, line, column]) => {
    const { errors } = (await admin.post('/ruleSets', ruleSet(content))).refused(400, 'rule-set-invalid')
    expect(errors?.[0]).toMatchObject({ line, column })
  })
})
