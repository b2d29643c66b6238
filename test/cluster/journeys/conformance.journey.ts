import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endsWithParent } from '../../../bin/orphans.mjs'
import { startTopology, type Topology } from './support/topology.ts'

const ROOT = join(import.meta.dirname, '../../..')
const REPORT = join(import.meta.dirname, '../.cache/conformance.json')

/** Of a platform, so that the stories of its tokens run as well. */
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
beforeAll(async () => {
  topology = await startTopology({
    logLevel: 'trace',
    environment: { ...platform, PLATFORM_JWT_PUBLIC_KEY: keys.publicKey },
  })
})
afterAll(() => topology.stop())

interface Report {
  numPassedTests: number
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[]
}

test('the conformance suite passes through the gateways, with two replicas of each service, and no log has a secret of it', async () => {
  const { username, password } = topology.administrator
  const suite = endsWithParent(
    spawn(
      process.execPath,
      [
        join(ROOT, 'node_modules/vitest/vitest.mjs'),
        ...['run', '--root', join(ROOT, 'test/conformance')],
        // The engines of a test are no fast ones.
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
    .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.split('\n')[0]}`)
  expect(failed).toEqual([])
  expect(code).toBe(0)
  expect(numPassedTests).toBeGreaterThan(500)
  process.stderr.write(`${numPassedTests} stories passed on the cluster\n`)
})
