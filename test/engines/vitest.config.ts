import type { ViteUserConfig } from 'vitest/config'
import shared, { reportTo } from '../../vitest.config.ts'

const { test, ...config }: ViteUserConfig = shared

/** All tests start servers, so they are journeys. */
export default {
  ...config,
  test: { ...test, reporters: reportTo('.cache/journeys.json') },
} satisfies ViteUserConfig
