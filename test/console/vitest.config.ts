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
      testTimeout: scaledTimeout(90_000),
      expect: { poll: { timeout: 20_000 } },
      // The pages of more tests at once would wait for each other.
      maxWorkers: availableParallelism() + 1,
    },
  }),
)
