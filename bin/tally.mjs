// Counts what the test runs of the workspaces left in their .cache. Run by itself it prints the one plain line that the
// last `npm test` comes to, with the journeys and the tests without Go that were run since.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ fullName: string, status: string, meta?: { skipped?: string } }} Test
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Test[] }} TestFile
 * @typedef {{ testResults: TestFile[] }} Report what vitest's json reporter writes
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[], reasons: Map<string, number>, silent: string[] }} Count
 *   `failures` are the names of the failed tests, `reasons` how many tests of a file were skipped for which reason,
 *   `silent` the workspaces where no test was run
 */

/**
 * Where a task of a workspace leaves its results: `test`, `without-go`, or the `journeys` that take longer.
 * @param {string} folder of a workspace
 * @param {string} task
 */
const resultsFile = (folder, task) => join(folder, '.cache', task === 'test' ? 'tests.json' : `${task}.json`)

/** The tasks whose results are added up, where the caller names no others. */
const counted = ['test', 'without-go', 'journeys']

/**
 * Removes the results of earlier runs, so that none is counted twice.
 * @param {string} root
 * @param {string[]} tasks
 */
export function forgetResults(root, tasks = counted) {
  for (const folder of workspaces(root))
    for (const task of tasks) rmSync(resultsFile(join(root, folder), task), { force: true })
}

/**
 * Adds up the results of all workspaces. A test file that could not be loaded or that defines no test counts as one
 * failed test.
 * @param {string} root
 * @param {string[]} tasks whose results count; those of `test` are expected of each workspace
 * @returns {Count}
 */
export function countTests(root, tasks = counted) {
  /** @type {Count} */
  const count = { passed: 0, failed: 0, skipped: 0, failures: [], reasons: new Map(), silent: [] }
  for (const folder of workspaces(root)) {
    for (const task of tasks) {
      const report = reportOf(resultsFile(join(root, folder), task))
      if (task === 'test' && report.testResults.length === 0) count.silent.push(folder)
      addReport(count, { folder, task, report })
    }
  }
  return count
}

/**
 * @param {string} file
 * @returns {Report} an empty one where nothing was run
 */
const reportOf = file => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { testResults: [] })

/**
 * @param {Count} count
 * @param {{ folder: string, task: string, report: Report }} of
 */
function addReport(count, { folder, task, report }) {
  for (const file of report.testResults) {
    // The same file may have been run by two tasks.
    const origin = task === 'without-go' ? ' (without Go)' : ''
    const path = file.name.slice(file.name.indexOf(`${folder}/`)) + origin
    const failed = file.assertionResults.filter(test => test.status === 'failed')
    const passed = file.assertionResults.filter(test => test.status === 'passed')
    const skipped = file.assertionResults.filter(test => !failed.includes(test) && !passed.includes(test))
    count.passed += passed.length
    count.skipped += skipped.length
    count.failed += failed.length
    count.failures.push(...failed.map(test => `${path}: ${test.fullName}`))
    for (const { meta } of skipped) {
      const reason = `${path}: ${meta?.skipped ?? 'no reason is given'}`
      count.reasons.set(reason, (count.reasons.get(reason) ?? 0) + 1)
    }
    if (failed.length > 0) continue
    const trouble =
      file.status === 'failed' ? 'could not be run' : file.assertionResults.length === 0 && 'defines no test'
    if (!trouble) continue
    count.failed++
    count.failures.push(`${path}: ${trouble}`)
  }
}

/**
 * The count in words for people: why tests were skipped, then the failed tests, then the count.
 * @param {Count} count
 * @param {object} run
 * @param {boolean} run.succeeded whether everything that was run succeeded, checks included
 * @param {boolean} run.all whether every workspace was to run
 * @returns {string[]} lines
 */
export function describeCount(count, { succeeded, all }) {
  const lines = [...count.reasons].map(([reason, number]) => `SKIPPED ${number} of ${reason}`)
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
 * The workspaces that have tests to run.
 * @param {string} root
 * @returns {string[]} such as `packages/contracts`
 */
function workspaces(root) {
  return ['packages', 'services', 'test']
    .filter(group => existsSync(join(root, group)))
    .flatMap(group => readdirSync(join(root, group)).map(name => `${group}/${name}`))
    .filter(folder => {
      const file = join(root, folder, 'package.json')
      return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).scripts?.test !== undefined
    })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(plainLine(countTests(dirname(dirname(fileURLToPath(import.meta.url))))))
}
