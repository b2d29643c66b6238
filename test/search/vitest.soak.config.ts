import type { ViteUserConfig } from 'vitest/config'
import { reportTo } from '../../vitest.config.ts'
import tests from './vitest.config.ts'

const { test, ...config }: ViteUserConfig = tests

/**
 * The relevance of searches of 2,639 public APIs and their documents, which npm installs (400 MB): `npm run soak`. QUERIES=tuned
 * measures the queries that the ranking is tuned on in place of the others.
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
