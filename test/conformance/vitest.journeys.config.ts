import { defineConfig, mergeConfig } from 'vitest/config'
import shared, { reportTo } from '../../vitest.config.ts'

/** Stories that start processes of their own: commands, and services with other settings or another clock. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      globalSetup: './src/setup.ts',
      include: ['journeys/*.journey.ts'],
      isolate: false,
      setupFiles: ['vitest.setup.ts'],
      reporters: reportTo(process.env.REPORT_FILE ?? '.cache/journeys.json'),
    },
  }),
)
