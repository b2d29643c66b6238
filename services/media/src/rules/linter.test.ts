import { join } from 'node:path'
import { DEFAULT_RULE_SET, type DocumentFinding, requests } from '@gantry/contracts'
import { folderBlobStore } from '@gantry/embedded'
import type { Service } from '@gantry/service-runtime'
import { administrator, type Host, hostService } from '@gantry/service-runtime/testing'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { mediaService } from '../app.ts'
import { TooSlow } from '../document/thread.ts'
import { documentSettings } from '../settings.ts'
import { inlineChecker, inlineLinting } from '../testing/inline-checker.ts'
import { type Linting, lintingThreads } from './linting.ts'
import { scoreOf } from './lints.ts'

const API = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const VERSION = '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01'
const openapi = (title: string) =>
  `openapi: 3.0.3\ninfo: {title: ${title}, version: '1', x: 1}\npaths: {}\nservers: [{url: /}]\n`

const silent = { info() {}, warn() {}, error() {} }
let host: Host<Service>
const opened: Host<Service>[] = []
/** What was linted: titles of documents, with the contents of rule sets. */
let linted: string[] = []

const open = async (linting: Linting = inlineLinting) => {
  linted = []
  const noted: Linting = {
    ...linting,
    lint(bytes, content, signal) {
      const [, title] = /title: (\w+)/.exec(Buffer.from(bytes).toString()) ?? []
      linted.push(`${title} ${/([\w-]+): (error|warn)/.exec(content)?.[1]}`)
      return linting.lint(bytes, content, signal)
    },
  }
  host = await hostService((dependencies, folder) => {
    const blobs = folderBlobStore({ path: join(folder, 'images') })
    const { peers } = dependencies.process
    peers.answer(requests.findVersion, async ({ version }) => ({ id: version }))
    peers.answer(requests.react('catalog'), async () => null)
    const inline = { checker: inlineChecker, linting: noted }
    return mediaService({ ...dependencies, blobs }, documentSettings.parse({}), inline)
  })
  opened.push(host)
}
afterEach(() => opened.pop()?.close())

const path = `/apis/${API}/versions/${VERSION}/documents`
const call = async (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: string | object) =>
  host.app.inject({ method, url, ...(payload !== undefined && { payload }) })
const put = (name: string, content: string) => call('PUT', `${path}/${name}`, content)
const until = <T>(check: () => Promise<T> | T) => vi.waitFor(check, { timeout: 20_000, interval: 20 })
const scores = async () =>
  (await call('GET', path)).json().content.map(({ score }: { score: number | null }) => score)
const findings = async (name: string) =>
  (await call('GET', `${path}/${name}/findings`))
    .json()
    .content.map(({ ruleSet, code }: DocumentFinding) => [ruleSet, code])
const disableDefault = async () => {
  const record = (await call('GET', `/ruleSets/${DEFAULT_RULE_SET}`)).json()
  await call('PUT', `/ruleSets/${DEFAULT_RULE_SET}`, { ...record, enabled: false })
}
const progress = async (id: string) => (await call('GET', `/ruleSets/${id}`)).json().progress
const create = async (content: string) =>
  (await call('POST', '/ruleSets', { name: 'House', content })).json().id as string

describe('the linter', () => {
  test('gives a document that arrives findings of rules and a score', async () => {
    await open()
    await put('a.yaml', openapi('A'))
    await until(async () => expect(await scores()).toEqual([90]))
    expect(await findings('a.yaml')).toEqual([
      [null, 'schema-violation'],
      ['Recommended', 'info-license'],
    ])
    const scopes = administrator.scopes.filter(scope => scope !== 'READ_GOVERNANCE_DATA')
    host.actAs({ ...administrator, scopes })
    expect(await findings('a.yaml')).toEqual([[null, 'schema-violation']])
    host.actAs(administrator)
    await put('notes.md', '# Notes')
    expect(await scores()).toEqual([90, null])
  })

  test('lints all documents again by a changed rule set, those alone, and tells how far it is', async () => {
    await open()
    await disableDefault()
    await put('a.yaml', openapi('A'))
    await put('b.yaml', openapi('B'))
    const id = await create('rules: {info-contact: error}')
    await until(async () => expect(await progress(id)).toEqual({ linted: 2, total: 2 }))
    expect(await scores()).toEqual([84, 84])
    await host.restart()
    const other = await create('rules: {info-license: warn}')
    await until(async () => expect(await progress(other)).toEqual({ linted: 2, total: 2 }))
    expect(await scores()).toEqual([82, 82])
    const once = ['A info-contact', 'A info-license', 'B info-contact', 'B info-license']
    expect(linted.toSorted()).toEqual(once)
    await call('DELETE', `/ruleSets/${id}`)
    await until(async () => expect(await scores()).toEqual([90, 90]))
    expect(linted).toHaveLength(4)
  })

  test('forgets removed documents', async () => {
    await open()
    await put('a.yaml', openapi('A'))
    await put('b.yaml', openapi('B'))
    await until(async () => expect(await progress(DEFAULT_RULE_SET)).toEqual({ linted: 2, total: 2 }))
    await call('DELETE', `${path}/a.yaml`)
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000)
    onTestFinished(() => void clock.mockRestore())
    const { readModels } = host.dependencies
    const { lints } = await import('./lints.ts')
    await until(async () => expect(await readModels.collection(lints).count({})).toBe(1))
    await put('a.yaml', openapi('A'))
    await until(async () => expect(await scores()).toEqual([90, 90]))
  })
})

test.each([
  ['nothing', [], 0, 100],
  ['a warning once in many', [['WARNING', 1]], 1_000, 99],
  ['an error once in many', [['ERROR', 1]], 1_000, 95],
  ['an error everywhere, or in more places', [['ERROR', 5_000]], 1_000, 60],
  ['a warning everywhere', [['WARNING', 1_000]], 1_000, 90],
  ['an error four times in few, which count as 10', [['ERROR', 4]], 2, 81],
  ['twelve errors everywhere', Array(12).fill(['ERROR', 10]), 10, 0],
  ['eight errors in half', Array(8).fill(['ERROR', 5]), 10, 13],
] as const)('%s: the score of rules broken so often by operations and schemas', (_, rules, size, score) => {
  const broken = rules.map(([severity, places]) => ({ severity, code: 'a', places }))
  const found = { errors: 0, warnings: 0, broken, findings: [] }
  const none = { errors: 0, warnings: 0 }
  expect(scoreOf({ findings: none, counts: { operations: size, schemas: 0 } }, [found])).toBe(score)
})

describe('the engine', () => {
  const content = 'extends: [recommended]'
  const rulesFor = async (document: string) =>
    (await inlineLinting.lint(Buffer.from(document), content)).findings.map(({ code, line }) => [code, line])

  test('applies rules to documents of AsyncAPI, and reads no other file', async () => {
    const asyncapi = 'asyncapi: 2.6.0\ninfo: {title: a, version: "1"}\nchannels:\n  a: {publish: {}}\n'
    expect(await rulesFor(asyncapi)).toContainEqual(['security-defined', 4])
    const refers = 'openapi: 3.0.0\ninfo: {title: a, version: "1"}\npaths: {/a: {$ref: "/etc/passwd"}}\n'
    expect(await rulesFor(refers)).toContainEqual(['info-license', 2])
  })

  test.for([
    'swagger: "2.0"\ninfo: {title: a, version: "1"}\npaths: {/a: {get: null}, /b: null}\n',
    'openapi: 3.0.0\ninfo: null\npaths: []\nservers: []\n',
  ])('applies rules to what has null in place of objects: %j', async document =>
    expect(await rulesFor(document)).not.toEqual([]),
  )
})

describe('rules that need too much time', () => {
  const backtracks =
    'rules: {rule/a: {subject: {type: Info, property: title}, assertions: {pattern: "^(A+)+$"}}}'
  const document = () => Uint8Array.from(Buffer.from(openapi(`${'A'.repeat(40)}b`)))
  const threadsFor = (timeMs: number) => {
    const threads = lintingThreads(silent, { timeMs, heapMiB: 128, idleMs: 1_000 })
    onTestFinished(() => threads.stop())
    return threads
  }

  test('are ended', async () => {
    await expect(threadsFor(50).lint(document(), backtracks)).rejects.toThrow(TooSlow)
  })

  test('are ended with their service', async () => {
    const over = new AbortController()
    const linting = threadsFor(600_000).lint(document(), backtracks, over.signal)
    over.abort()
    await expect(linting).rejects.toThrow(/abort/)
  })

  test('are ended in a preview', async () => {
    const preview = threadsFor(1_000).preview(async () => document(), backtracks)
    // By the limit of processor time or, on a busy machine, by that of the wait.
    await expect(preview).rejects.toThrow()
  })

  test('end as a finding, and are not tried with further documents', async () => {
    const lint = async () => {
      throw new TooSlow([{ line: null, column: null, pointer: null, message: 'takes longer than 10 s' }])
    }
    await open({ ...inlineLinting, lint })
    await disableDefault()
    const id = await create('rules: {info-contact: warn}')
    for (const name of ['a', 'b', 'c', 'd']) await put(name, openapi(name))
    await until(async () => expect(await progress(id)).toEqual({ linted: 4, total: 4 }))
    expect(linted).toHaveLength(3)
    const messages = async (name: string) =>
      (await call('GET', `${path}/${name}/findings`))
        .json()
        .content.map((one: DocumentFinding) => one.message)
    expect(await messages('a')).toContain('takes longer than 10 s')
    expect((await messages('d')).join()).toMatch(/too much time for 3 documents/)
    expect(await findings('d')).toContainEqual(['House', 'rule-set-not-applied'])
  })
})

test('a rule that is broken often leaves room for the findings of others', async () => {
  const many = Array.from(
    { length: 600 },
    (_, n) => `  /a${n}: {get: {responses: {'200': {description: a}}}}\n`,
  )
  const document = `openapi: 3.0.3\ninfo: {title: A, version: '1'}\npaths:\n${many.join('')}`
  const content = 'rules: {operation-summary: warn, info-contact: warn}'
  const { broken, findings } = await inlineLinting.lint(Buffer.from(document), content)
  expect(broken.map(({ code, places }) => [code, places]).toSorted()).toEqual([
    ['info-contact', 1],
    ['operation-summary', 600],
  ])
  expect(findings).toHaveLength(500)
  expect(findings.map(({ code }) => code)).toContain('info-contact')
})

describe('a preview', () => {
  const preview = (content: string, more = {}) =>
    call('POST', '/ruleSets/preview', { content, api: API, version: VERSION, document: 'a.yaml', ...more })

  test('tells what rules would find and the score, with those of other rule sets, and changes nothing', async () => {
    await open()
    await put('a.yaml', openapi('A'))
    const id = await create('rules: {info-contact: error}')
    await until(async () => expect(await scores()).toEqual([82]))
    const [finding] = (await preview('rules: {info-contact: warn}')).json().findings
    expect(finding).toMatchObject({ severity: 'WARNING', code: 'info-contact', line: 2 })
    const beside = { score: 81, errors: 0, warnings: 1, truncated: false }
    expect((await preview('rules: {info-contact: warn}')).json()).toMatchObject(beside)
    expect((await preview('rules: {info-contact: warn}', { ruleSet: id })).json().score).toBe(88)
    expect(await scores()).toEqual([82])
    expect((await call('GET', '/ruleSets')).json().totalElements).toBe(2)
  })

  test('is refused for rules that are not valid, without a document, and to callers who may not read it', async () => {
    await open()
    await put('notes.md', '# Notes')
    const codeOf = async (content: string, document: string) => (await preview(content, { document })).json()
    expect(await codeOf('rules: {}', 'a.yaml')).toMatchObject({ code: 'document-not-found' })
    expect(await codeOf('rules: {}', 'notes.md')).toMatchObject({ errors: [{ field: 'document' }] })
    await put('a.yaml', openapi('A'))
    expect(await codeOf('rules: {info-contact: [', 'a.yaml')).toMatchObject({ code: 'rule-set-invalid' })
    host.actAs({ ...administrator, scopes: ['RULE_SETS_WRITE'] })
    expect(await codeOf('rules: {}', 'a.yaml')).toMatchObject({ code: 'scope-missing', scope: 'API_READ' })
    host.actAs(administrator)
  })
})

describe('a rule set', () => {
  test('beyond 50 others is refused, whether or not the built-in one was changed', async () => {
    await open()
    const content = 'rules: {}'
    const added = (n: number) => call('POST', '/ruleSets', { name: `Set ${n}`, content, enabled: false })
    for (let n = 1; n <= 50; n++) expect((await added(n)).statusCode).toBe(201)
    expect((await added(51)).json()).toMatchObject({ code: 'too-many-rule-sets', status: 409 })
    await disableDefault()
    expect((await added(51)).json()).toMatchObject({ code: 'too-many-rule-sets' })
  })

  test.for([
    ['rules:\n  no-such-rule: error', 2, /no-such-rule/],
    ['rules:\n  rule/a: {subject: {type: Nothing}, assertions: {defined: true}}', 2, /Nothing/],
    ['rules:\n  rule/a: {subject: {type: Info}, assertions: {nothing: true}}', 2, /nothing/],
  ] as const)('with rules that the engine does not know is refused: %j', async ([content, line, message]) => {
    await open()
    const { code, errors } = (await call('POST', '/ruleSets', { name: 'a', content })).json()
    expect([code, errors[0]]).toMatchObject(['rule-set-invalid', { line }])
    expect(errors[0].message).toMatch(message)
  })
})
