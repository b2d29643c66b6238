import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import journeys from './vitest.journeys.config.ts'

const { test, ...config }: ViteUserConfig = journeys

/** The journeys whose runs get longer by larger counts, and faults under load: `npm run soak`. */
export default {
  ...config,
  test: {
    ...test,
    include: ['journeys/conformance.journey.ts', 'journeys/*.soak.ts', 'cluster.test.ts', 'notifier.test.ts'],
    env: {
      HISTORIES: process.env.HISTORIES ?? '50',
      PAIRS: process.env.PAIRS ?? '3000',
      EVENTS: process.env.EVENTS ?? '10000',
      CONFORMANCE_ON: 'mongodb',
      OTEL_COLLECTOR: 'real',
    },
    testTimeout: 3_600_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
