import { describe, expect, test } from 'vitest'
import { countTests, describeCount, forgetResults } from '../../bin/tally.mjs'
import { project } from './project.ts'

const file = (name: string, status: string, ...statuses: string[]) => ({
  name,
  status,
  assertionResults: statuses.map((status, index) => ({ fullName: `story ${index + 1}`, status })),
})

/** A project of three workspaces: one with results, one that broke down, and one that left none. */
function tested() {
  const { root, write } = project()
  for (const folder of ['packages/ledger', 'services/catalog', 'test/journeys']) {
    write(`${folder}/package.json`, { scripts: { test: 'vitest run' } })
  }
  write('packages/unused/package.json', {})
  write('packages/ledger/.cache/tests.json', {
    testResults: [
      file(`${root}/packages/ledger/src/book.test.ts`, 'failed', 'passed', 'failed', 'skipped'),
      file(`${root}/packages/ledger/src/page.test.ts`, 'passed', 'passed', 'todo'),
    ],
  })
  write('packages/ledger/.cache/journeys.json', {
    testResults: [file(`${root}/packages/ledger/journeys/far.journey.ts`, 'passed', 'passed')],
  })
  write('services/catalog/.cache/tests.json', {
    testResults: [file(`${root}/services/catalog/src/api.test.ts`, 'failed')],
  })
  return root
}

describe('the count of tests', () => {
  test('adds up the workspaces; a file that cannot be loaded is one failure', () => {
    expect(countTests(tested())).toEqual({
      passed: 3,
      failed: 2,
      skipped: 2,
      failures: [
        'packages/ledger/src/book.test.ts: story 2',
        'services/catalog/src/api.test.ts: could not be run',
      ],
      silent: ['test/journeys'],
    })
  })

  test('names what failed and what was not run', () => {
    expect(describeCount(countTests(tested()), { succeeded: false, all: true })).toEqual([
      'FAILED packages/ledger/src/book.test.ts: story 2',
      'FAILED services/catalog/src/api.test.ts: could not be run',
      'No tests were run in test/journeys',
      'Tests: 3 passed, 2 failed, 2 skipped.',
    ])
  })

  test('does not call a failed check a success', () => {
    const count = { passed: 5, failed: 0, skipped: 0, failures: [], silent: [] }

    expect(describeCount(count, { succeeded: false, all: true })).toEqual([
      'Not everything succeeded: what failed is named above.',
      'Tests: 5 passed, 0 failed.',
    ])
    expect(describeCount(count, { succeeded: true, all: true })).toEqual(['Tests: 5 passed, 0 failed.'])
  })

  test('holds nothing of an earlier run', () => {
    const root = tested()
    forgetResults(root)

    expect(countTests(root)).toMatchObject({ passed: 0, failed: 0, skipped: 0 })
  })
})
