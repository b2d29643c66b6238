import { defineConfig, mergeConfig } from 'vitest/config'
import journeys from '../../vitest.journeys.config.ts'

export default mergeConfig(
  journeys,
  defineConfig({
    test: {
      // Each generator and each compiler uses all cores.
      fileParallelism: false,
      // On a machine with cold caches the tools are downloaded and compiled.
      testTimeout: 1_800_000,
    },
  }),
)
