import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTopology, type Topology } from './support/topology.ts'

const ROOT = join(import.meta.dirname, '../../..')
const REPORT = join(import.meta.dirname, '../.cache/conformance.json')

let topology: Topology
beforeAll(async () => {
  topology = await startTopology()
})
afterAll(() => topology.stop())

interface Report {
  numPassedTests: number
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[]
}

test('the conformance suite passes through the gateways, with two replicas of each service', async () => {
  const { username, password } = topology.administrator
  const suite = spawn(
    process.execPath,
    [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--root', join(ROOT, 'test/conformance'), `--outputFile.json=${REPORT}`],
    ],
    {
      env: {
        ...process.env,
        BASE_URL: topology.urls[0],
        ADMIN_USERNAME: username,
        ADMIN_PASSWORD: password,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
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
