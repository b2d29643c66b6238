import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Runs a test file with the shared settings. @returns the report on the file */
function report(source: string) {
  // Inside the repository, so that vitest is found.
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'vitest.config.ts'), "export { default } from '../../vitest.config.ts'\n")
  writeFileSync(join(folder, 'a.test.ts'), `import { describe, test } from 'vitest'\n${source}`)
  const { status, error } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run'],
    {
      cwd: folder,
      env: { ...process.env, REPORT_FILE: 'report.json' },
      timeout: 60_000,
    },
  )
  // The report is written when the tests have ended. This checks that the process and its output end as well.
  expect(error).toBeUndefined()
  const { testResults } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))
  return { status, message: testResults[0].message, tests: testResults[0].assertionResults }
}

test('a test file that defines no test fails', () => {
  const { status, message } = report('describe.each([])("on %s", () => test("does something", () => {}))')
  expect(status).toBe(1)
  expect(message).toContain('No test suite found')
})

test('a run ends although a process of a timed-out hook still has its output', () => {
  const { status, message } = report(`
    import { spawn } from 'node:child_process'
    import { beforeAll } from 'vitest'
    import { endsWithParent } from '../../bin/orphans.mjs'
    beforeAll(() => {
      endsWithParent(spawn('sleep', ['300'], { stdio: 'inherit' }))
      return new Promise(() => {})
    }, 500)
    test('a', () => {})
  `)
  expect(status).toBe(1)
  expect(message).toContain('Hook timed out')
})

test('a test file whose tests are all skipped does not fail, and its report contains the reasons', () => {
  const { status, tests } = report(`
    test('alone', ({ skip }) => skip('there is no engine'))
    describe.skipIf(true)('together', { meta: { skipped: 'there is no disk' } }, () => test('a', () => {}))
  `)
  expect(status).toBe(0)
  expect(tests).toMatchObject([
    { status: 'skipped', meta: { skipped: 'there is no engine' } },
    { status: 'skipped', meta: { skipped: 'there is no disk' } },
  ])
})
