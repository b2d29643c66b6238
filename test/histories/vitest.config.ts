import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import everywhere from '../../vitest.config.ts'

export default mergeConfig(
  everywhere,
  defineConfig({
    resolve: {
      // Vitest's fake timers do not cover the timers that return promises.
      alias: { 'node:timers/promises': fileURLToPath(new URL('src/virtual-timers.ts', import.meta.url)) },
    },
    test: { testTimeout: 180_000 },
  }),
)
