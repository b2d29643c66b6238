import { defineConfig } from 'vitest/config'

// Every story waits for the service most of the time, so files run in parallel beyond the number of cores.
// Coverage is a project of its own because only the order of groups makes it run after all stories.
export default defineConfig({
  test: {
    globalSetup: './src/setup.ts',
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 30_000,
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
          name: 'coverage',
          include: ['coverage.test.ts'],
          globalSetup: [],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
