import { defineConfig, mergeConfig } from 'vitest/config'
import shared from '../../vitest.config.ts'

// Stories mostly wait for the service, so more files run in parallel than there are cores.
// Tests that evaluate all stories are a separate project, because only the group order makes them run afterwards.
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
