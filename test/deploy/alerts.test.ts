import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPromtool, HOW_TO_HAVE_PROMTOOL } from '@gantry/engines'
import { expect, test } from 'vitest'
import { ROOT } from './src/files.ts'

const run = promisify(execFile)

test('the alerts fire and stay silent as the cases of alerts.test.yaml say', {
  timeout: 300_000,
}, async ({ skip }) => {
  const promtool = await findPromtool()
  skip(!promtool && !process.env.CI, `there is no promtool: ${HOW_TO_HAVE_PROMTOOL}`)
  if (!promtool) throw new Error(`CI needs promtool: ${HOW_TO_HAVE_PROMTOOL}`)
  const cases = join(ROOT, 'test/deploy/alerts.test.yaml')
  const failure = (error: { stdout: string; stderr: string }) => error.stderr + error.stdout
  expect(await run(promtool, ['test', 'rules', cases]).catch(failure)).toMatchObject({
    stdout: expect.stringContaining('SUCCESS'),
  })
})
