import { defineConfig } from 'vitest/config'

/** The settings of every workspace; each has a vitest.config.ts that exports these. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The same with and without CI in the environment, by which vitest would set both.
    allowOnly: false,
    update: 'none',
    reporters: ['default', ['json', { outputFile: process.env.REPORT_FILE ?? '.cache/tests.json' }]],
  },
})
