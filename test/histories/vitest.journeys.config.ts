import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import journeys from '../../vitest.journeys.config.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default mergeConfig(
  journeys,
  defineConfig({
    resolve: {
      alias: [
        // The fake timers of Vitest do not cover `node:timers/promises`.
        { find: 'node:timers/promises', replacement: here('src/virtual-timers.ts') },
        { find: /^lru-cache$/, replacement: here('src/small-lru-cache.ts') },
      ],
    },
  }),
)
