import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.journeys.config.ts'

const { test, ...config }: ViteUserConfig = tests

/** Thousands of histories per seed: `npm run soak`. */
export default {
  ...config,
  test: {
    ...test,
    env: { HISTORIES: process.env.HISTORIES ?? '3000' },
    testTimeout: 3_600_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
