import { defineConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'

/** Minutes of faults on many processes: one after the other, so that none disturbs another. */
export default defineConfig({
  test: {
    include: ['journeys/*.journey.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    // A cold machine compiles the engines before the first.
    hookTimeout: 900_000,
    allowOnly: false,
    update: 'none',
    reporters: reportTo('.cache/journeys.json'),
  },
})
