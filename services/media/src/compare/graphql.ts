import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core'
import { buildClientSchema, type GraphQLSchema } from 'graphql'
import { invalid } from '../check/checked.ts'
import { introspectionOf, parsedSdl, schemaOfSdl } from '../check/graphql.ts'
import { readTree } from '../check/tree.ts'
import type { Changes } from './changes.ts'

const LEVELS = {
  [CriticalityLevel.Breaking]: 'BREAKING',
  [CriticalityLevel.Dangerous]: 'UNCLEAR',
  [CriticalityLevel.NonBreaking]: 'COMPATIBLE',
} as const

/** Compares schemas of GraphQL, as definitions or as answers to an introspection query. Texts do not count. */
export async function compareGraphQl(before: string, after: string, changes: Changes): Promise<void> {
  for (const change of await diff(schemaOf(before), schemaOf(after)))
    if (!isText(change)) changes.add(LEVELS[change.criticality.level], change.path ?? '', messageOf(change))
}

const isText = ({ type }: Change) => type.includes('DESCRIPTION')

const messageOf = ({ message }: Change) => message.charAt(0).toLowerCase() + message.slice(1)

/** @throws DocumentInvalid */
function schemaOf(text: string): GraphQLSchema {
  const introspection = /^\s*\{/.test(text) ? introspectionOf(readTree(text).value) : undefined
  const document = introspection ? undefined : parsedSdl(text)
  try {
    if (introspection) return buildClientSchema(introspection)
    return schemaOfSdl(document as NonNullable<typeof document>)
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw invalid((error as Error).message)
  }
}
