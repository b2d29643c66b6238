import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  type DocumentRecord,
  downloadDocument,
  listDocuments,
  type Operation,
  SCOPES,
} from '@gantry/contracts'
import { ranOn } from '@gantry/engines/ran-on'
import { derivedPrincipalKey, passedPrincipals } from '@gantry/service-runtime'
import { fastify } from 'fastify'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { describedEngines } from '../src/engines.ts'
import { isSoak, storesOfJourneys } from './support/soak.ts'
import { startTopology, type Topology } from './support/topology.ts'

const ROOT = join(import.meta.dirname, '../../..')
const OPERATIONS = join(ROOT, 'services/operations/src/main.ts')
const REPORT = join(import.meta.dirname, '../.cache/conformance.json')

/**
 * The stories whose result can differ when several processes share the work, with what differs. Others depend on one
 * request to one process. `npm run soak` runs all of them on the cluster, with read models in MongoDB.
 */
const STORIES: Record<string, string> = {
  'access-tokens': 'a revocation has to reach every gateway and identity',
  deliveries: 'either notifier attempts and records a delivery',
  deployments: 'the answers of the agent reach either replica of catalog',
  documents: 'either media stores a document, and both answer with it at once',
  'event-stream': 'the feed has the events of all replicas in order',
  idempotency: 'a repeated request reaches another replica',
  'platform-events': 'an event passes notifier, bus and catalog',
  restore: 'a deleted resource is restored by another replica',
  search: 'what one catalog stores, the other finds',
  session: 'a login ends at every process',
}

/** Keys of a platform, so that the tests of platform JWTs also run. */
const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const platform = {
  PLATFORM_JWT_ISSUER: 'https://platform.example',
  PLATFORM_JWT_AUDIENCE: 'gantry',
  PLATFORM_JWT_USER_CLAIM: 'account',
}

let topology: Topology
ranOn(() => describedEngines(topology.engines))
beforeAll(async () => {
  topology = await startTopology({
    settings: storesOfJourneys,
    logLevel: isSoak ? 'trace' : 'info',
    environment: {
      ...platform,
      PLATFORM_JWT_PUBLIC_KEY: keys.publicKey,
    },
  })
})
afterAll(() => topology.stop())

interface Report {
  numPassedTests: number
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[]
}

test('the stories pass with two replicas of each process', async () => {
  const suiteFolder = join(ROOT, 'test/conformance')
  const files = Object.keys(STORIES).map(name => `stories/${name}.test.ts`)
  expect(files.filter(file => !existsSync(join(suiteFolder, file)))).toEqual([])
  const { username, password } = topology.administrator
  const suite = endsWithParent(
    spawn(
      process.execPath,
      [
        join(ROOT, 'node_modules/vitest/vitest.mjs'),
        ...['run', '--root', suiteFolder, '--testTimeout=300000', ...(isSoak ? [] : files)],
      ],
      {
        env: {
          ...process.env,
          REPORT_FILE: REPORT,
          BASE_URL: topology.urls[0],
          ADMIN_USERNAME: username,
          ADMIN_PASSWORD: password,
          LOGS: topology.logFolder,
          ...platform,
          PLATFORM_JWT_PRIVATE_KEY: keys.privateKey,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    ),
  )
  suite.stderr.pipe(process.stderr, { end: false })
  const [code] = await once(suite, 'exit')
  const { numPassedTests, testResults } = JSON.parse(await readFile(REPORT, 'utf8')) as Report
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]}`)
  expect(failed, failed.join('; ')).toEqual([])
  expect(code).toBe(0)
  expect(numPassedTests).toBeGreaterThan(isSoak ? 500 : 80)
  process.stderr.write(`${numPassedTests} stories passed on the cluster\n`)
})

/** A document whose check takes long enough to be seen. */
const LARGE = `openapi: 3.0.3
info: {title: Killed, version: '1'}
paths: {'/kills/{kill}': {get: {operationId: getKill, responses: {'200': {description: ok}}}}}
components:
  schemas:
${Array.from({ length: 30_000 }, (_, n) => `    S${n}: {type: object, properties: {a: {type: string}, b: {$ref: '#/components/schemas/S0'}}}\n`).join('')}`

const json = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T

/** The replica of media that has the whole body of a document in memory, which it checks. */
async function replicaThatChecks(size: number): Promise<string> {
  const media = topology.processes.filter(({ name }) => name.startsWith('media'))
  for (;;) {
    for (const { name, internalPort } of media) {
      const metrics = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
      if (Number(/^gantry_request_body_bytes\S* (\d+)/m.exec(metrics)?.[1]) >= size) return name
    }
    await sleep(20)
  }
}

/** Asks each replica of media itself, as the gateways do for the administrator. */
async function askBoth(operation: Operation, path: string): Promise<[string, string][]> {
  const key = derivedPrincipalKey(Buffer.from(topology.environment.ENCRYPTION_KEY ?? '', 'base64'))
  const { sign } = await passedPrincipals(fastify(), { key, now: () => new Date() })
  const principal = {
    ...{ userId: 'a3a1f1d0-5f0e-4b5c-9c39-0d6f2b1e7a01', username: 'admin', role: 'GLOBAL_ADMIN' as const },
    ...{ scopes: [...SCOPES], kind: 'login' as const, tokenId: null, credentialId: 'login-1' },
    expiresAt: Date.now() + 3_600_000,
  } as const
  const headers = { 'x-gantry-principal': sign(principal, operation) }
  const media = topology.processes.filter(({ name }) => name.startsWith('media'))
  return Promise.all(
    media.map(async ({ name, port }): Promise<[string, string]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      expect(answer.status, name).toBe(200)
      return [name, await answer.text()]
    }),
  )
}

test('a document whose replica is killed while it checks is not stored, and then by a retry, for good', async () => {
  const { send } = topology
  const create = (path: string, fields: object) =>
    json<{ id: string }>(send(path, { method: 'POST', body: JSON.stringify(fields) }))
  const named = { name: 'killed', displayName: 'killed', tags: [] }
  const { id: api } = await create('/apis', { ...named, status: 'ACTIVE' })
  const { id: version } = await create(`/apis/${api}/versions`, { ...named, status: 'DEVELOPMENT' })
  const path = `/apis/${api}/versions/${version}/documents`
  const headers = { 'content-type': 'application/yaml' }
  const put = () => send(`${path}/large.yaml`, { method: 'PUT', body: LARGE, headers })
  const documents = () => json<{ content: DocumentRecord[] }>(send(path))
  const operations = async () => {
    const { content } = await json<{ content: object[] }>(send('/operations?q=getKill'))
    return content
  }

  const first = put()
  const answered = first.then(async answer => `${answer.status} ${await answer.clone().text()}`)
  const replica = await Promise.race([replicaThatChecks(LARGE.length), answered])
  process.kill(topology.pid(replica), 'SIGKILL')
  expect((await first).status).toBe(503)
  expect([(await documents()).content, await operations()]).toEqual([[], []])
  expect((await send(`${path}/large.yaml`)).status).toBe(404)

  let stored = await put()
  // Gateways send requests to the killed replica until they find it away.
  while (stored.status === 503) stored = await put()
  expect(stored.status).toBe(201)
  const record = (await stored.json()) as DocumentRecord
  expect(record).toMatchObject({ size: LARGE.length, title: 'Killed', counts: { operations: 1 } })
  const [operation] = await operations()
  expect(operation).toMatchObject({ api, version, path: '/kills/{kill}' })

  const isEverywhere = async () => {
    for (const [name, text] of await askBoth(listDocuments, path)) {
      const [document, ...others] = JSON.parse(text).content
      // Its score comes later.
      expect([name, { ...document, score: null }, others]).toEqual([name, record, []])
    }
    for (const [name, text] of await askBoth(downloadDocument, `${path}/large.yaml`))
      expect(text === LARGE, name).toBe(true)
    expect(await operations()).toEqual([operation])
    const found = await json<{ content: { id: string }[] }>(send('/apis?q=kills'))
    expect(found.content.map(({ id }) => id)).toEqual([api])
  }
  await vi.waitFor(isEverywhere, { timeout: 60_000, interval: 200 })
  await promisify(execFile)(process.execPath, [OPERATIONS, 'rebuild'], { env: topology.environment })
  await isEverywhere()
  // The rule sets of the next test would be applied to it for long.
  expect((await send(`/apis/${api}`, { method: 'DELETE' })).status).toBe(204)
})

/** Enough that a replica can be killed while it applies a rule set. */
const DOCUMENTS = 24

/** The replicas of media that hold the lease of the linter. */
async function replicasThatLint(): Promise<string[]> {
  const media = topology.processes.filter(({ name }) => name.startsWith('media'))
  const held = media.map(async ({ name, internalPort }) => {
    const metrics = await fetch(`http://127.0.0.1:${internalPort}/metrics`).then(
      answer => answer.text(),
      () => '',
    )
    return /^gantry_lease_held\{.*"media\.linter".*\} 1$/m.test(metrics) ? [name] : []
  })
  return (await Promise.all(held)).flat()
}

test('a rule set is applied by one replica, and by the other after the death of that one', async () => {
  const { send } = topology
  const operation = { operationId: 'get', responses: { 200: { description: 'ok' } } }
  const paths = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`/${n}`, { get: operation }]))
  const lines = Array.from({ length: DOCUMENTS }, (_, n) =>
    JSON.stringify({ openapi: '3.0.3', info: { title: `Linted ${n}`, version: '1' }, paths }),
  )
  const headers = { 'content-type': 'application/x-ndjson' }
  const body = lines.join('\n')
  const job = await json<{ id: string }>(send('/apis/import', { method: 'POST', headers, body }))
  const patient = { timeout: 120_000, interval: 200 }
  const results = () => json<{ content: { api: string }[] }>(send(`/jobs/${job.id}/results?size=100`))
  await vi.waitFor(async () => expect((await results()).content).toHaveLength(DOCUMENTS), patient)

  // Asked before the linter has work, which it may end while the replicas answer.
  const [replica = '', ...others] = await replicasThatLint()
  expect([replica, others]).toEqual([expect.stringMatching(/^media/), []])
  const input = { name: 'One replica', content: 'rules: {info-contact: error}' }
  const { id } = await json<{ id: string }>(
    send('/ruleSets', { method: 'POST', body: JSON.stringify(input) }),
  )
  const progress = async () =>
    (await json<{ progress: { linted: number; total: number } }>(send(`/ruleSets/${id}`))).progress
  await vi.waitFor(async () => expect((await progress()).linted).toBeGreaterThan(0), {
    ...patient,
    interval: 20,
  })
  process.kill(topology.pid(replica), 'SIGKILL')
  const killed = await progress()
  expect(killed.linted, 'documents that were left for the other replica').toBeLessThan(killed.total)
  await vi.waitFor(async () => {
    expect((await replicasThatLint()).length).toBeLessThanOrEqual(1)
    const { linted, total } = await progress()
    expect(linted).toBe(total)
  }, patient)
  for (const { api } of (await results()).content) {
    const found = await json<{ content: object[] }>(
      send(`/apis/${api}/versions/1/documents/openapi.json/findings?size=1`),
    )
    expect(found.content, api).not.toEqual([])
  }
  await send(`/ruleSets/${id}`, { method: 'DELETE' })
})
