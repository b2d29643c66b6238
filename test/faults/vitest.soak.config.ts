import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/**
 * One million deliveries with retention, within an hour on a machine that is fast enough, 20,000 mutated documents, and 100
 * random requests to each operation: `npm run soak`.
 */
export default {
  ...config,
  test: {
    ...test,
    include: ['*.soak.ts', 'hostile.journey.ts'],
    env: {
      DELIVERIES: process.env.DELIVERIES ?? '1000000',
      MINUTES: process.env.MINUTES ?? '60',
      HOSTILE_REQUESTS: process.env.HOSTILE_REQUESTS ?? '100',
      MUTATIONS: process.env.MUTATIONS ?? '20000',
    },
    testTimeout: 4 * 3_600_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
