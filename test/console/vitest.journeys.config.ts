import { defineConfig, mergeConfig } from 'vitest/config'
import journeys from '../../vitest.journeys.config.ts'

export default mergeConfig(
  journeys,
  defineConfig({
    test: {
      globalSetup: 'src/setup.ts',
      // The files of a worker share a browser and its page.
      isolate: false,
    },
  }),
)
