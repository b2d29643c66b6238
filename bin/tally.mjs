// Counts what the test runs of the workspaces left in their .cache. Run by itself it prints the one plain line that the
// last `npm test` comes to, with the journeys that were run since.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ fullName: string, status: string }} Test
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Test[] }} TestFile
 * @typedef {{ testResults: TestFile[] }} Report what vitest's json reporter writes
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[], silent: string[] }} Count
 *   `failures` are the names of the failed tests, `silent` the workspaces where no test was run
 */

/**
 * Where a task of a workspace leaves its results: `test`, or the `journeys` that take longer.
 * @param {string} folder of a workspace
 * @param {string} task
 */
const resultsFile = (folder, task) => join(folder, '.cache', task === 'test' ? 'tests.json' : `${task}.json`)

/**
 * Removes the results of earlier runs, so that none is counted twice.
 * @param {string} root
 * @param {string[]} tasks
 */
export function forgetResults(root, tasks = ['test', 'journeys']) {
  for (const folder of workspaces(root))
    for (const task of tasks) rmSync(resultsFile(join(root, folder), task), { force: true })
}

/**
 * Adds up the results of all workspaces. A test file that could not be loaded counts as one failed test.
 * @param {string} root
 * @param {string[]} tasks whose results count; those of `test` are expected of each workspace
 * @returns {Count}
 */
export function countTests(root, tasks = ['test', 'journeys']) {
  /** @type {Count} */
  const count = { passed: 0, failed: 0, skipped: 0, failures: [], silent: [] }
  for (const folder of workspaces(root)) {
    for (const task of tasks) {
      const report = reportOf(resultsFile(join(root, folder), task))
      if (task === 'test' && report.testResults.length === 0) count.silent.push(folder)
      addReport(count, folder, report)
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
 * @param {string} folder
 * @param {Report} report
 */
function addReport(count, folder, report) {
  for (const file of report.testResults) {
    const path = file.name.slice(file.name.indexOf(`${folder}/`))
    const failed = file.assertionResults.filter(test => test.status === 'failed')
    const passed = file.assertionResults.filter(test => test.status === 'passed')
    count.passed += passed.length
    count.skipped += file.assertionResults.length - passed.length - failed.length
    count.failed += failed.length
    count.failures.push(...failed.map(test => `${path}: ${test.fullName}`))
    if (file.status === 'failed' && failed.length === 0) {
      count.failed++
      count.failures.push(`${path}: could not be run`)
    }
  }
}

/**
 * The count in words for people, the failed tests first.
 * @param {Count} count
 * @param {object} run
 * @param {boolean} run.succeeded whether everything that was run succeeded, checks included
 * @param {boolean} run.all whether every workspace was to run
 * @returns {string[]} lines
 */
export function describeCount(count, { succeeded, all }) {
  const lines = count.failures.map(failure => `FAILED ${failure}`)
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
