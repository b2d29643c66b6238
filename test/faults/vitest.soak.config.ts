import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/**
 * One million deliveries with retention, within an hour on a machine that is fast enough, and 20,000 mutated documents:
 * `npm run soak`.
 */
export default {
  ...config,
  test: {
    ...test,
    include: ['*.soak.ts'],
    env: {
      DELIVERIES: process.env.DELIVERIES ?? '1000000',
      MINUTES: process.env.MINUTES ?? '60',
      MUTATIONS: process.env.MUTATIONS ?? '20000',
    },
    testTimeout: 4 * 3_600_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
