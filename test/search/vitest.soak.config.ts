import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/**
 * The relevance of searches of 2,639 public APIs and their documents, which npm installs (400 MB): `npm run soak`. HALF=tuned
 * measures the first half of the queries in place of the second.
 */
export default {
  ...config,
  test: {
    ...test,
    include: ['*.soak.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    reporters: reportTo('.cache/soak.json'),
  },
} satisfies ViteUserConfig
