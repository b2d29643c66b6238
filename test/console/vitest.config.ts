import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import { scaledTimeout } from '../../bin/timeouts.mjs'
import settings from '../../vitest.config.ts'

export default mergeConfig(
  settings,
  defineConfig({
    test: {
      globalSetup: 'src/setup.ts',
      // A test has many steps, and a page takes seconds to open while all other tests run.
      testTimeout: scaledTimeout(60_000),
      expect: { poll: { timeout: 20_000 } },
      // These tests wait for the browser most of the time.
      maxWorkers: 2 * availableParallelism(),
    },
  }),
)
