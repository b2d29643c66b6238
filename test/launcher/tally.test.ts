import { describe, expect, test } from 'vitest'
import { countTests, describeCount, forgetResults } from '../../bin/tally.mjs'
import { project } from './project.ts'

const file = (name: string, status: string, ...statuses: string[]) => ({
  name,
  status,
  startTime: 1_000,
  endTime: 1_500,
  assertionResults: statuses.map((status, index) => ({ fullName: `story ${index + 1}`, status })),
})

/** A project of three workspaces: one with results, one that could not be run, and one without results. */
function tested() {
  const { root, write } = project()
  for (const folder of ['packages/ledger', 'services/catalog', 'test/journeys']) {
    write(`${folder}/package.json`, { scripts: { test: 'vitest run' } })
  }
  write('packages/ledger/package.json', { scripts: { test: 'vitest run', journeys: 'vitest run' } })
  write('packages/unused/package.json', {})
  write('packages/ledger/.cache/tests.json', {
    testResults: [
      file(`${root}/packages/ledger/src/book.test.ts`, 'failed', 'passed', 'failed', 'skipped'),
      file(`${root}/packages/ledger/src/page.test.ts`, 'passed', 'passed', 'todo'),
    ],
  })
  write('packages/ledger/.cache/journeys.json', {
    testResults: [
      {
        name: `${root}/packages/ledger/journeys/far.journey.ts`,
        status: 'failed',
        startTime: 1_000,
        endTime: 4_000,
        assertionResults: [
          {
            fullName: 'story 1',
            status: 'failed',
            meta: { engine: 'a real press' },
            failureMessages: ['Error: \u001B[31mno ink\u001B[39m\n  at write'],
          },
          { fullName: 'story 2', status: 'skipped', meta: { skipped: 'needs ink' } },
          { fullName: 'story 3', status: 'skipped', meta: { skipped: 'needs ink' } },
        ],
      },
      file(`${root}/packages/ledger/journeys/empty.journey.ts`, 'passed'),
    ],
  })
  write('services/catalog/.cache/tests.json', {
    testResults: [file(`${root}/services/catalog/src/api.test.ts`, 'failed')],
  })
  return root
}

describe('the count of tests', () => {
  test('names slow, failed, skipped and missing tests', () => {
    expect(describeCount(countTests(tested(), ['test']), { succeeded: false, all: true })).toEqual([
      'SLOW 0.5 s packages/ledger/src/book.test.ts',
      'SLOW 0.5 s packages/ledger/src/page.test.ts',
      'SLOW 0.5 s services/catalog/src/api.test.ts',
      'SKIPPED 1 of packages/ledger/src/book.test.ts: no reason is given',
      'SKIPPED 1 of packages/ledger/src/page.test.ts: no reason is given',
      'FAILED packages/ledger/src/book.test.ts: story 2',
      'FAILED services/catalog/src/api.test.ts: could not be run',
      'No tests were run in test/journeys',
      'Tests: 2 passed, 2 failed, 2 skipped.',
    ])
  })

  test('names the servers that the tests ran on', () => {
    expect(describeCount(countTests(tested(), ['journeys']), { succeeded: false, all: false })).toContain(
      'RAN packages/ledger/journeys/far.journey.ts on a real press',
    )
  })

  test('does not report a failed check as a success', () => {
    const count = {
      passed: 5,
      failed: 0,
      skipped: 0,
      failures: [],
      reasons: new Map(),
      engines: new Map(),
      slow: [],
      silent: [],
    }

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
