import { defineConfig, mergeConfig } from 'vitest/config'
import journeys from '../../vitest.journeys.config.ts'

/** Stories that start processes of their own: commands, and services with other settings or another clock. */
export default mergeConfig(
  journeys,
  defineConfig({
    test: { globalSetup: './src/setup.ts', isolate: false, setupFiles: ['vitest.setup.ts'] },
  }),
)
