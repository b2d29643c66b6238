import { defineConfig, mergeConfig } from 'vitest/config'
import settings from '../../vitest.config.ts'

export default mergeConfig(
  settings,
  defineConfig({
    test: {
      globalSetup: 'src/setup.ts',
      // The files of a worker share a browser and its page.
      isolate: false,
      testTimeout: 120_000,
      expect: { poll: { timeout: 20_000 } },
    },
  }),
)
