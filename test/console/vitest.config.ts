import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import settings from '../../vitest.config.ts'

export default mergeConfig(
  settings,
  defineConfig({
    test: {
      globalSetup: 'src/setup.ts',
      // These tests wait for the browser most of the time.
      maxWorkers: 2 * availableParallelism(),
    },
  }),
)
