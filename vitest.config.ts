import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import type { Reporter } from 'vitest/node'

declare module 'vitest' {
  interface TaskMeta {
    /** The reason why the test is skipped on this machine, which bin/tally.mjs prints. */
    skipped?: string | undefined
  }
}

/** Process id of the launcher, e.g. of `npm test`. The test processes end soon after it, however it ends. */
const launcher = Number(process.env.GANTRY_LAUNCHER)
if (launcher) setInterval(endWithLauncher, 1_000).unref()

function endWithLauncher() {
  try {
    process.kill(launcher, 0)
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}

/** Copies the reason that a test passed to `skip` into its metadata, which are in the JSON report. */
const skipReasons: Reporter = {
  onTestCaseResult(test) {
    const result = test.result()
    if (result.state === 'skipped' && result.note) test.meta().skipped = result.note
  },
}

/**
 * The reporters of a task. One of them writes the results to a JSON file.
 * @param outputFile path relative to the folder of the workspace
 */
export const reportTo = (outputFile: string): NonNullable<ViteUserConfig['test']>['reporters'] => [
  'default',
  skipReasons,
  ['json', { outputFile }],
]

/** The settings of all workspaces for `npm test`. The vitest.config.ts of each workspace exports them. */
export default defineConfig({
  test: {
    // Only a test that hangs reaches them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    setupFiles: [join(import.meta.dirname, 'vitest.setup.ts')],
    expect: { poll: { timeout: 100_000 } },
    // The files of a worker share their modules: loading them for each file took most of the processor time.
    isolate: false,
    // Set explicitly, because vitest's defaults depend on whether CI is in the environment.
    allowOnly: false,
    update: 'none',
    // One worker per core, although turbo runs as many workspaces in parallel: most tests wait most of the time.
    maxWorkers: availableParallelism(),
    // A test file without a test and a workspace without a test file fail.
    passWithNoTests: false,
    reporters: reportTo(process.env.REPORT_FILE ?? '.cache/tests.json'),
  },
})
