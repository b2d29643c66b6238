import { defineConfig, mergeConfig } from 'vitest/config'
import shared from '../../vitest.config.ts'

// Every story waits for the service most of the time, so files run in parallel beyond the number of cores.
// What looks back on all stories is a project of its own because only the order of groups makes it run after them.
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      globalSetup: './src/setup.ts',
      maxWorkers: 4,
      projects: [
        {
          extends: true,
          test: {
            name: 'stories',
            include: ['stories/*.test.ts', 'src/*.test.ts'],
            globalSetup: [],
            sequence: { groupOrder: 1 },
          },
        },
        {
          extends: true,
          test: {
            name: 'afterwards',
            include: ['coverage.test.ts', 'logs.test.ts'],
            globalSetup: [],
            sequence: { groupOrder: 2 },
          },
        },
      ],
    },
  }),
)
