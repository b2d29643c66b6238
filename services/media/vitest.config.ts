import { mergeConfig } from 'vitest/config'
import shared from '../../vitest.config.ts'

/** @graphql-inspector/core and our own code have to load the same module of graphql. */
export default mergeConfig(shared, { test: { server: { deps: { inline: ['@graphql-inspector/core'] } } } })
