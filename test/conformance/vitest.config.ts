import { defineConfig, mergeConfig } from 'vitest/config'
import shared from '../../vitest.config.ts'

/** All files of a worker share the modules, so that the document of the service is compiled once per worker. */
const sharing = { globalSetup: [], isolate: false, setupFiles: ['vitest.setup.ts'] }

// Tests that evaluate all stories are a separate project, because only the group order makes them run afterwards.
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      globalSetup: './src/setup.ts',
      projects: [
        {
          extends: true,
          test: {
            ...sharing,
            name: 'stories',
            include: ['stories/*.test.ts', 'src/*.test.ts'],
            sequence: { groupOrder: 1 },
          },
        },
        {
          extends: true,
          test: {
            ...sharing,
            name: 'afterwards',
            include: ['coverage.test.ts', 'logs.test.ts'],
            sequence: { groupOrder: 2 },
          },
        },
      ],
    },
  }),
)
