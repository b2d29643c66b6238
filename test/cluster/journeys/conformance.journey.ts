import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ranOn } from '@gantry/engines/ran-on'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { describedEngines } from '../src/engines.ts'
import { startTopology, type Topology } from './support/topology.ts'

const ROOT = join(import.meta.dirname, '../../..')
const REPORT = join(import.meta.dirname, '../.cache/conformance.json')

/**
 * The stories whose result can differ when several processes share the work, with what differs. Others depend on one
 * request to one process. `npm run soak` runs all of them on the cluster, with read models in MongoDB.
 */
const STORIES: Record<string, string> = {
  'access-tokens': 'a revocation has to reach every gateway and identity',
  deliveries: 'either notifier attempts and records a delivery',
  deployments: 'the answers of the agent reach either replica of catalog',
  'event-stream': 'the feed has the events of all replicas in order',
  idempotency: 'a repeated request reaches another replica',
  'platform-events': 'an event passes notifier, bus and catalog',
  restore: 'a deleted resource is restored by another replica',
  session: 'a login ends at every process',
}
const isWhole = process.env.CONFORMANCE === 'whole'

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

/** FerretDB reads every document for most lists, so the journey keeps read models in files. */
const engines = (folder: string): NodeJS.ProcessEnv =>
  process.env.READ_MODEL_URL || isWhole
    ? {}
    : {
        READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
        BLOB_URL: `file:${join(folder, 'images')}`,
      }

let topology: Topology
ranOn(() => describedEngines(topology.engines))
beforeAll(async () => {
  topology = await startTopology({
    settings: engines,
    logLevel: isWhole ? 'trace' : 'info',
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
        ...['run', '--root', suiteFolder, '--testTimeout=300000', ...(isWhole ? [] : files)],
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
  expect(numPassedTests).toBeGreaterThan(isWhole ? 500 : 80)
  process.stderr.write(`${numPassedTests} stories passed on the cluster\n`)
})
