import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/** What is deployed, with processes, kubectl, promtool, and Helm's libraries: `npm run journeys`. */
export default {
  ...config,
  test: {
    ...test,
    include: ['*.journey.ts'],
    // On a machine with cold caches the renderer of charts is compiled before the first test.
    testTimeout: 300_000,
    hookTimeout: 900_000,
    reporters: reportTo('.cache/journeys.json'),
  },
} satisfies ViteUserConfig
