import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/** With the program `helm` and the rules of the API server, which take minutes to compile: `npm run soak`. */
export default {
  ...config,
  test: {
    ...test,
    include: ['*.soak.ts'],
    testTimeout: 1_200_000,
    hookTimeout: 2_400_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
