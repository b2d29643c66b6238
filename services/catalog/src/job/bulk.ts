import { changeApis, invalidField, MAX_JOB_ITEMS, type Parsed, Refusal } from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { type AddRoute, listing } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { ApiAggregate } from '../api/api.decide.ts'
import type { ApiDocument } from '../api/api.projection.ts'
import type { ApiEvent, ApiState } from '../api/api.ts'
import { conditionsOf } from '../api/facets.routes.ts'
import type { RequestJob } from './job.routes.ts'
import type { JobKind } from './job.runner.ts'

type ApiFilter = NonNullable<Parsed<NonNullable<typeof changeApis.body>>['filter']>

const PAGE = 1_000
const AT_ONCE = 8

export function bulkRoutes(
  route: AddRoute,
  { apis, requestJob }: { apis: Collection<ApiDocument>; requestJob: RequestJob },
): void {
  route(changeApis, async ({ body, creationMetadata: metadata, newId }) => {
    const items = body.ids ?? (await idsOf(apis, body.filter ?? {}))
    return requestJob({ id: newId(), task: { type: 'BULK', change: body.change }, items, metadata })
  })
}

/** The APIs that a filter selects now. @throws Refusal invalid-request when there are too many */
async function idsOf(apis: Collection<ApiDocument>, filter: ApiFilter): Promise<string[]> {
  const { where = {}, text = [] } = listing(
    { page: 1, size: 1, sort: [], text: filter.text },
    conditionsOf(filter),
  )
  const total = await apis.count({ where, text })
  if (total > MAX_JOB_ITEMS)
    throw invalidField('filter', `must select at most ${MAX_JOB_ITEMS} APIs, not ${total}`)
  const ids = new Set<string>()
  for (let skip = 0; skip < total; skip += PAGE)
    for (const { doc } of await apis.list({ where, text, skip, limit: PAGE })) ids.add(doc.id)
  return [...ids]
}

export interface BulkChanges {
  api: ApiAggregate
  announceDeletion(executed: Executed<ApiState, ApiEvent>): Promise<void>
}

/** Changes APIs, which are the items of the job. */
export function bulkChanges({ api, announceDeletion }: BulkChanges): JobKind {
  return {
    atOnce: AT_ONCE,
    nameOf: id => id,
    async perform(id, { job, metadata }) {
      if (job.task.type !== 'BULK') throw new Error('the job changes no APIs')
      const { change } = job.task
      if (!change.delete) {
        const { delete: _, ...fields } = change
        const { facts } = await api.execute(id, { type: 'ChangeApi', metadata, change: fields })
        return { item: id, api: id, status: facts.length > 0 ? 'UPDATED' : 'UNCHANGED' }
      }
      const { undeploy, unchangedSince = job.createdAt } = change.delete
      try {
        await announceDeletion(
          await api.execute(id, { type: 'DeleteApi', metadata, undeploy, unchangedSince }),
        )
        return { item: id, api: id, status: 'DELETED' }
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'api-not-found')) throw error
        return { item: id, api: id, status: 'UNCHANGED' }
      }
    },
  }
}
