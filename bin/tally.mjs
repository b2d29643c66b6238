// Counts the test results that the workspaces have left in their .cache folders. As a program it prints one plain line with
// the count of the last `npm test` and of the journeys that were run since.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/**
 * @typedef {{ fullName: string, status: string, failureMessages?: string[], meta?: { skipped?: string, engine?: string } }} Test
 * @typedef {{ name: string, status: string, message?: string, startTime?: number, endTime?: number, assertionResults: Test[] }} TestFile
 * @typedef {{ testResults: TestFile[] }} Report the output of vitest's json reporter
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[], reasons: Map<string, number>, engines: Map<string, Set<string>>, slow: { path: string, seconds: number }[], silent: string[] }} Count
 *   `failures` are the names of the failed tests with the first line of the reason, `reasons` the number of skipped tests
 *   by file and reason, `engines` the servers, real or stand-ins, on which the tests of a file ran, `slow` the files with
 *   their duration, the slowest first, `silent` the workspaces where no test was run
 */

/**
 * The file with the results of a task of a workspace.
 * @param {string} folder of a workspace
 * @param {string} task `test`, `journeys` or `soak`
 */
const resultsFile = (folder, task) => join(folder, '.cache', task === 'test' ? 'tests.json' : `${task}.json`)

/** The tasks whose results are counted by default. */
const counted = ['test', 'journeys']

/**
 * Removes the results of earlier runs, so that they are not counted again.
 * @param {string} root
 * @param {string[]} tasks
 */
export function forgetResults(root, tasks = counted) {
  for (const folder of workspaces(root))
    for (const task of tasks) rmSync(resultsFile(join(root, folder), task), { force: true })
}

/**
 * Counts the results of all workspaces. A test file that could not be loaded or that defines no test counts as one failed
 * test.
 * @param {string} root
 * @param {string[]} tasks the counted tasks; a workspace with a script of that name is expected to have results
 * @returns {Count}
 */
export function countTests(root, tasks = counted) {
  /** @type {Count} */
  const count = {
    passed: 0,
    failed: 0,
    skipped: 0,
    failures: [],
    reasons: new Map(),
    engines: new Map(),
    slow: [],
    silent: [],
  }
  for (const folder of workspaces(root)) {
    for (const task of tasks) {
      const report = reportOf(resultsFile(join(root, folder), task))
      if (report.testResults.length === 0 && hasScript(root, folder, task)) count.silent.push(folder)
      addReport(count, folder, report)
    }
  }
  count.slow.sort((a, b) => b.seconds - a.seconds)
  return count
}

/**
 * @param {string} file
 * @returns {Report} an empty report if nothing was run
 */
const reportOf = file => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { testResults: [] })

/** @type {(count: Count, folder: string, report: Report) => void} */
function addReport(count, folder, report) {
  for (const file of report.testResults) {
    const path = file.name.slice(file.name.indexOf(`${folder}/`))
    const { startTime = 0, endTime = startTime } = file
    count.slow.push({ path, seconds: (endTime - startTime) / 1_000 })
    const failed = file.assertionResults.filter(test => test.status === 'failed')
    const passed = file.assertionResults.filter(test => test.status === 'passed')
    const skipped = file.assertionResults.filter(test => !failed.includes(test) && !passed.includes(test))
    for (const { meta } of [...passed, ...failed])
      if (meta?.engine) count.engines.set(path, (count.engines.get(path) ?? new Set()).add(meta.engine))
    count.passed += passed.length
    count.skipped += skipped.length
    count.failed += failed.length
    count.failures.push(...failed.map(test => `${path}: ${test.fullName}${reasonOf(test)}`))
    for (const { meta } of skipped) {
      const reason = `${path}: ${meta?.skipped ?? 'no reason is given'}`
      count.reasons.set(reason, (count.reasons.get(reason) ?? 0) + 1)
    }
    if (failed.length > 0) continue
    const problem =
      file.status === 'failed' ? 'could not be run' : file.assertionResults.length === 0 && 'defines no test'
    if (!problem) continue
    count.failed++
    count.failures.push(`${path}: ${problem}`)
  }
}

/**
 * The first line of why a test failed.
 * @param {Test} test
 */
function reasonOf({ failureMessages: [message] = [] }) {
  const line = stripVTControlCharacters(message ?? '').split('\n', 1)[0]
  return line ? ` (${line})` : ''
}

/** How many of the slowest files are named. */
const NAMED = 8

/**
 * Describes the count for people: the slowest files, the servers, the reasons of skipped tests, the failed tests, and the
 * count.
 * @param {Count} count
 * @param {object} run
 * @param {boolean} run.succeeded whether everything succeeded, including checks
 * @param {boolean} run.all whether the tests of all workspaces were requested
 * @returns {string[]} lines
 */
export function describeCount(count, { succeeded, all }) {
  const lines = count.slow.slice(0, NAMED).map(({ path, seconds }) => `SLOW ${seconds.toFixed(1)} s ${path}`)
  for (const [path, engines] of count.engines) lines.push(`RAN ${path} on ${[...engines].join('; ')}`)
  lines.push(...[...count.reasons].map(([reason, number]) => `SKIPPED ${number} of ${reason}`))
  lines.push(...count.failures.map(failure => `FAILED ${failure}`))
  if (!succeeded && all && count.silent.length > 0)
    lines.push(`No tests were run in ${count.silent.join(', ')}`)
  if (!succeeded && count.failed === 0) lines.push('Not everything succeeded: what failed is named above.')
  lines.push(`Tests: ${plainLine(count)}.`)
  return lines
}

/** @param {Count} count */
const plainLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/**
 * The folders of all workspaces.
 * @param {string} root
 * @returns {string[]} such as `packages/contracts`
 */
export const workspaces = root =>
  ['packages', 'services', 'test']
    .filter(group => existsSync(join(root, group)))
    .flatMap(group => readdirSync(join(root, group)).map(name => `${group}/${name}`))
    .filter(folder => existsSync(join(root, folder, 'package.json')))

/** @type {(root: string, folder: string, script: string) => boolean} */
export const hasScript = (root, folder, script) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).scripts?.[script] !== undefined

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(plainLine(countTests(dirname(dirname(fileURLToPath(import.meta.url))))))
}
