import { defineConfig, mergeConfig } from 'vitest/config'
import settings from '../../vitest.config.ts'

export default mergeConfig(settings, defineConfig({ test: { globalSetup: 'src/setup.ts' } }))
