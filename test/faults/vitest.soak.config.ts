import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/** A million deliveries with retention on, within an hour where the machine can: `npm run soak`. */
export default {
  ...config,
  test: {
    ...test,
    include: ['retention.soak.ts'],
    env: { DELIVERIES: process.env.DELIVERIES ?? '1000000', MINUTES: process.env.MINUTES ?? '60' },
    testTimeout: 4 * 3_600_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
