import {
  type EnvironmentRecord,
  getEnvironment,
  listEnvironments,
  Refusal,
  type SortBy,
  updateEnvironment,
} from '@gantry/contracts'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { Collection, Document } from '@gantry/stores'
import type { EnvironmentAggregate } from './environment.decide.ts'
import type { EnvironmentDocument } from './environment.projection.ts'

const BY_NAME: SortBy = { field: 'name', direction: 'asc' }

export interface EnvironmentRoutes {
  environment: EnvironmentAggregate
  environments: Collection<EnvironmentDocument>
  apis: Pick<Collection<Document>, 'count'>
}

export function environmentRoutes(
  route: AddRoute,
  { environment, environments, apis }: EnvironmentRoutes,
): void {
  route(listEnvironments, async ({ query }) => {
    const sort = query.sort.map(by => (by.field === 'position' ? { ...by, field: 'place' } : by))
    const byName = sort.some(({ field }) => field === 'name') ? [] : [BY_NAME]
    const { items, total } = await environments.find(listing({ ...query, sort: [...sort, ...byName] }))
    const content = await Promise.all(items.map(({ doc }) => record(doc)))
    return { status: 200, body: page(content, total, query) }
  })

  route(getEnvironment, async ({ params }) => ({ status: 200, ...(await current(params.environment_id)) }))

  route(updateEnvironment, async ({ params: { environment_id: id }, body: input, metadata, ifMatch }) => {
    await environment.execute(id, { type: 'NameEnvironment', metadata, id, input, ifMatch })
    return { status: 200, ...(await current(id)) }
  })

  const record = async ({
    place,
    recordRevision,
    ...fields
  }: EnvironmentDocument): Promise<EnvironmentRecord> => ({
    ...fields,
    apis: await apis.count({ where: { environments: fields.id } }),
  })

  const current = async (id: string) => {
    const stored = await environments.get(id)
    if (!stored) throw new Refusal('environment-not-found')
    const body = await record(stored.doc)
    return { body, revision: stored.doc.recordRevision, variant: String(body.apis) }
  }
}
