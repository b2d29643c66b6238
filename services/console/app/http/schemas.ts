import type { Operations, Schemas } from '@gantry/client'

export type { Schemas } from '@gantry/client'
/** The parameters of an operation by its id, e.g. `Query<'listApis'>`. */
export type Query<Id extends keyof Operations> = Operations[Id]['input']
/** A property and direction that an operation sorts by, e.g. `Sort<'listApis'>`. Those of an address were checked. */
export type Sort<Id extends keyof Operations> =
  Query<Id> extends { sort?: (infer Word)[] | undefined } ? Word : never
export type Scope = Schemas['Scope']
