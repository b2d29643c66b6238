import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { subjects } from '@gantry/contracts'
import { busSettings } from '@gantry/hosting'
import { openBus } from '@gantry/hosting/bus'
import { readSettings } from '@gantry/service-kit'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { startTopology, type Topology } from './support/topology.ts'

const ROOT = join(import.meta.dirname, '../../..')
const REPORT = join(import.meta.dirname, '../.cache/conformance.json')

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

/**
 * FerretDB reads every document for most lists, so the suite takes twice as long on it. The journey keeps read models in
 * files; the soak keeps them in FerretDB.
 */
const engines = (folder: string): NodeJS.ProcessEnv =>
  process.env.READ_MODEL_URL || process.env.CONFORMANCE_ON === 'mongodb'
    ? {}
    : {
        READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
        BLOB_URL: `file:${join(folder, 'images')}`,
      }

let topology: Topology
beforeAll(async () => {
  topology = await startTopology({
    settings: engines,
    logLevel: 'trace',
    // The suite uses the other gateway.
    ownEnvironment: name => (name === 'gateway-2' ? { MAX_EVENT_REPLAYS: '2' } : {}),
    environment: {
      ...platform,
      PLATFORM_JWT_PUBLIC_KEY: keys.publicKey,
      MESSAGE_RETENTION: '40d',
      // A story fills it.
      BODY_MEMORY: '32MiB',
    },
  })
  await removeOldEvents()
})
afterAll(() => topology.stop())

const DAY_MS = 86_400_000

/** Makes NATS remove all messages, and then restores its retention. */
async function removeOldEvents() {
  const settings = readSettings(busSettings, topology.environment)
  const log = pino({ level: 'silent' })
  const using = async (
    options: Partial<Parameters<typeof openBus>[1]>,
    work: (bus: ReturnType<typeof openBus>) => Promise<unknown>,
  ) => {
    const opened = openBus(settings, { name: 'operator', log, ...options })
    await work(opened).finally(() => opened.store.close())
  }
  const needed = { setting: 'FIFTY_DAYS', ms: 50 * DAY_MS }
  await using({ needed }, ({ backingStore }) =>
    expect(backingStore.check()).rejects.toThrow(
      'keeps messages for 3456000s, which is shorter than FIFTY_DAYS',
    ),
  )
  await topology.send('/apis', {
    method: 'POST',
    body: JSON.stringify({ name: 'old', displayName: 'Old', status: 'ACTIVE', tags: [] }),
  })
  await using({ retentionMs: 1_000 }, ({ store }) =>
    vi.waitFor(async () => expect(await store.removedThrough([subjects.allEvents])).toBeGreaterThan(0), {
      timeout: 60_000,
      interval: 200,
    }),
  )
  await using({ retentionMs: 40 * DAY_MS }, ({ backingStore }) => backingStore.check())
}

/** The position that a page of a feed without events has. */
const BEFORE_ALL_EVENTS = Buffer.from('[1,0,"",0,[],[]]').toString('base64url')

interface Report {
  numPassedTests: number
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[]
}

test('the conformance suite passes with two replicas of each process, and no log contains its secrets', async () => {
  const { username, password } = topology.administrator
  const suite = endsWithParent(
    spawn(
      process.execPath,
      [
        join(ROOT, 'node_modules/vitest/vitest.mjs'),
        ...['run', '--root', join(ROOT, 'test/conformance')],
        // The stores that tests start are slow.
        '--testTimeout=120000',
      ],
      {
        env: {
          ...process.env,
          REPORT_FILE: REPORT,
          BASE_URL: topology.urls[0],
          ADMIN_USERNAME: username,
          ADMIN_PASSWORD: password,
          LOGS: topology.logFolder,
          REMOVED_POSITION: BEFORE_ALL_EVENTS,
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
  expect(numPassedTests).toBeGreaterThan(500)
  process.stderr.write(`${numPassedTests} stories passed on the cluster\n`)
})

const FOLLOWERS = 12

test('a gateway limits replays to MAX_EVENT_REPLAYS, and answers other requests meanwhile', async () => {
  const settings = readSettings(busSettings, topology.environment)
  const { store } = openBus(settings, { name: 'operator', log: pino({ level: 'silent' }) })
  const event = () => {
    const [id, data] = [randomUUID(), { text: 'x'.repeat(25_000) }]
    const about = { source: 'archive', subject: 'x', revision: 0, time: new Date(0).toISOString() }
    const actor = { id: null, name: 'x' }
    return {
      id,
      subject: 'events.archive.LARGE',
      data: { id, type: 'LARGE', ...about, data, actor, requestId: 'x' },
    }
  }
  for (let n = 0; n < 12; n++) await store.publish(Array.from({ length: 50 }, event))
  await store.close()

  const [, gateway = ''] = topology.urls
  const answers: IncomingMessage[] = []
  // The clients do not read the responses.
  const { authorization } = topology
  const headers = { authorization, accept: 'application/x-ndjson' }
  const requests = Array.from({ length: FOLLOWERS }, () =>
    get(`${gateway}/events`, { agent: false, headers }, answer => answers.push(answer)).on('error', () => {}),
  )
  const replays = async (state: string) => {
    const text = await (await fetch(`${gateway}/metrics`)).text()
    return Number(new RegExp(`^gantry_event_replays\\{.*state="${state}".*\\} (\\d+)`, 'm').exec(text)?.[1])
  }
  await vi.waitFor(async () => {
    expect([await replays('running'), await replays('waiting')]).toEqual([2, FOLLOWERS - 2])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  }, 5_000)
  expect((await fetch(`${gateway}/apis`, { headers: { authorization } })).status).toBe(200)
  await vi.waitFor(() => expect(answers).toHaveLength(FOLLOWERS), 30_000)
  const refused = answers.filter(({ statusCode }) => statusCode === 503)
  expect(refused.length).toBeGreaterThan(FOLLOWERS / 2)
  for (const { headers } of refused) expect(headers['retry-after']).toBe('2')
  for (const request of requests) request.destroy()
  await vi.waitFor(async () => expect(await replays('running')).toBe(0), 5_000)
})
