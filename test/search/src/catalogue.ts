import { apis, descriptions } from '@gantry/catalog'
import type { PublicApi } from '@gantry/demo'
import type { Query, ReadModels } from '@gantry/stores'

/** An API with what its document says. */
export interface DescribedApi extends Pick<PublicApi, 'name' | 'displayName' | 'description' | 'tags'> {
  title: string | null
  operations: string[]
}

const AT_ONCE = 20

/** Stores APIs as catalog does, with their names as ids. */
export async function store(readModels: ReadModels, described: readonly DescribedApi[]): Promise<void> {
  for (let from = 0; from < described.length; from += AT_ONCE)
    await readModels.write(described.slice(from, from + AT_ONCE).flatMap(writesOf))
}

const writesOf = ({ title, operations, ...api }: DescribedApi) => [
  { collection: apis, id: api.name, revision: 0, doc: { id: api.name, ...api } },
  {
    collection: descriptions,
    id: api.name,
    revision: 0,
    doc: { id: api.name, api: api.name, version: api.name, title, operations },
  },
]

/** The names of the APIs that q finds, the first ten. */
export async function namesFound(readModels: ReadModels, q: string): Promise<string[]> {
  const described = [{ by: descriptions, field: 'api' }]
  const query: Query = { search: { q, described }, limit: 10 }
  return (await readModels.collection(apis).list(query)).map(({ doc }) => doc.name)
}
