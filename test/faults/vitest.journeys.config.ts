import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/** The standalone process with faults: `npm run journeys`. */
export default {
  ...config,
  test: {
    ...test,
    include: ['*.journey.ts'],
    // On a machine with cold caches Go compiles its standard library.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: reportTo('.cache/journeys.json'),
  },
} satisfies ViteUserConfig
