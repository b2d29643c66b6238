import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'

/** Each journey causes faults on many processes for minutes. They run one after the other, so that none affects another. */
export default defineConfig({
  test: {
    include: ['journeys/*.journey.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    // On a machine with cold caches the stores are compiled before the first journey.
    hookTimeout: 900_000,
    setupFiles: [join(import.meta.dirname, '../../vitest.setup.ts')],
    allowOnly: false,
    update: 'none',
    reporters: reportTo('.cache/journeys.json'),
  },
})
