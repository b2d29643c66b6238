import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import type { Reporter } from 'vitest/node'
import { patient } from './bin/patience.mjs'

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped on this machine: bin/tally.mjs shows it. */
    skipped?: string | undefined
  }
}

/** The process of `npm test` and the like; what is run for it ends soon after it, however it ends. */
const launcher = Number(process.env.GANTRY_LAUNCHER)
if (launcher) setInterval(endWithLauncher, 1_000).unref()

function endWithLauncher() {
  try {
    process.kill(launcher, 0)
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}

/** Puts the reason that a test gave to `skip` where the JSON report has it. */
const skipReasons: Reporter = {
  onTestCaseResult(test) {
    const result = test.result()
    if (result.state === 'skipped' && result.note) test.meta().skipped = result.note
  },
}

/**
 * The reporters of a task, whose results are left in a file.
 * @param outputFile in the folder of the workspace
 */
export const reportTo = (outputFile: string): NonNullable<ViteUserConfig['test']>['reporters'] => [
  'default',
  skipReasons,
  ['json', { outputFile }],
]

/** The settings of every workspace; each has a vitest.config.ts that exports these. */
export default defineConfig({
  test: {
    testTimeout: patient(30_000),
    hookTimeout: patient(30_000),
    // The same with and without CI in the environment, by which vitest would set both.
    allowOnly: false,
    update: 'none',
    // Most tests wait most of the time, and turbo runs as many workspaces at once as there are cores.
    maxWorkers: availableParallelism(),
    // A file without a test, and a workspace without a file, fail.
    passWithNoTests: false,
    reporters: reportTo(process.env.REPORT_FILE ?? '.cache/tests.json'),
  },
})
