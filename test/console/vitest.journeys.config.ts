import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import journeys from '../../vitest.journeys.config.ts'

export default mergeConfig(
  journeys,
  defineConfig({
    test: {
      globalSetup: 'src/setup.ts',
      // A page waits most of the time. The files together are the longest workspace, and often the last one.
      maxWorkers: availableParallelism(),
      // The files of a worker share a browser and its page.
      isolate: false,
    },
  }),
)
