/** The schemas of the REST interface by name, generated from its OpenAPI document. */
export type Schemas = OpenApi.components['schemas']
/** The operations of the REST interface by path. */
export type Paths = OpenApi.paths
/** The query parameters of an operation by its id, e.g. `Query<'listApis'>`. */
export type Query<Id extends keyof OpenApi.operations> = NonNullable<
  OpenApi.operations[Id]['parameters']['query']
>
export type Scope = Schemas['Scope']
