import { availableParallelism } from 'node:os'
import type { ViteUserConfig } from 'vitest/config'
import shared, { reportTo } from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = shared

/** The settings of all workspaces for `npm run journeys`: tests of processes, servers and browsers, in files of their own. */
export default {
  ...config,
  test: {
    ...test,
    // turbo runs as many workspaces in parallel as there are cores, and a journey is many processes.
    maxWorkers: Math.ceil(availableParallelism() / 2),
    include: ['**/*.journey.ts'],
    isolate: true,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: reportTo('.cache/journeys.json'),
  },
} satisfies ViteUserConfig
