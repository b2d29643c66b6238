import { describe, expect, test } from 'vitest'
import { countTests, describeCount, forgetResults } from '../../bin/tally.mjs'
import { project } from './project.ts'

const file = (name: string, status: string, ...statuses: string[]) => ({
  name,
  status,
  assertionResults: statuses.map((status, index) => ({ fullName: `story ${index + 1}`, status })),
})

/** A project of three workspaces: one with results, one that could not be run, and one without results. */
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
  write('packages/ledger/.cache/without-go.json', {
    testResults: [
      {
        name: `${root}/packages/ledger/src/book.test.ts`,
        status: 'failed',
        assertionResults: [
          {
            fullName: 'story 1',
            status: 'failed',
            failureMessages: ['Error: \u001B[31mno ink\u001B[39m\n  at write'],
          },
          { fullName: 'story 2', status: 'skipped', meta: { skipped: 'needs ink' } },
          { fullName: 'story 3', status: 'skipped', meta: { skipped: 'needs ink' } },
        ],
      },
      file(`${root}/packages/ledger/src/empty.test.ts`, 'passed'),
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
  test('adds up the workspaces and counts a file that cannot be loaded or has no test as one failure', () => {
    expect(countTests(tested())).toEqual({
      passed: 3,
      failed: 4,
      skipped: 4,
      failures: [
        'packages/ledger/src/book.test.ts: story 2',
        'packages/ledger/src/book.test.ts (without Go): story 1 (Error: no ink)',
        'packages/ledger/src/empty.test.ts (without Go): defines no test',
        'services/catalog/src/api.test.ts: could not be run',
      ],
      reasons: new Map([
        ['packages/ledger/src/book.test.ts: no reason is given', 1],
        ['packages/ledger/src/page.test.ts: no reason is given', 1],
        ['packages/ledger/src/book.test.ts (without Go): needs ink', 2],
      ]),
      silent: ['test/journeys'],
    })
  })

  test('names failed, skipped and missing tests', () => {
    expect(describeCount(countTests(tested()), { succeeded: false, all: true })).toEqual([
      'SKIPPED 1 of packages/ledger/src/book.test.ts: no reason is given',
      'SKIPPED 1 of packages/ledger/src/page.test.ts: no reason is given',
      'SKIPPED 2 of packages/ledger/src/book.test.ts (without Go): needs ink',
      'FAILED packages/ledger/src/book.test.ts: story 2',
      'FAILED packages/ledger/src/book.test.ts (without Go): story 1 (Error: no ink)',
      'FAILED packages/ledger/src/empty.test.ts (without Go): defines no test',
      'FAILED services/catalog/src/api.test.ts: could not be run',
      'No tests were run in test/journeys',
      'Tests: 3 passed, 4 failed, 4 skipped.',
    ])
  })

  test('does not report a failed check as a success', () => {
    const count = { passed: 5, failed: 0, skipped: 0, failures: [], reasons: new Map(), silent: [] }

    expect(describeCount(count, { succeeded: false, all: true })).toEqual([
      'Not everything succeeded: what failed is named above.',
      'Tests: 5 passed, 0 failed.',
    ])
    expect(describeCount(count, { succeeded: true, all: true })).toEqual(['Tests: 5 passed, 0 failed.'])
  })

  test('ignores results of an earlier run', () => {
    const root = tested()
    forgetResults(root)

    expect(countTests(root)).toMatchObject({ passed: 0, failed: 0, skipped: 0 })
  })
})
