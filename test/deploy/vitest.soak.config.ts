import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/** The chart with the program `helm`, which takes minutes to compile: `npm run soak`. */
export default {
  ...config,
  test: {
    ...test,
    include: ['helm.soak.ts'],
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
