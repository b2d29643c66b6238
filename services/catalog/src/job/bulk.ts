import {
  type BulkChange,
  changeApis,
  invalidField,
  MAX_JOB_ITEMS,
  type Parsed,
  Refusal,
} from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { type AddRoute, listing } from '@gantry/service-runtime'
import { type Collection, idsOf, type Search } from '@gantry/stores'
import type { ApiAggregate } from '../api/api.decide.ts'
import type { ApiDocument } from '../api/api.projection.ts'
import type { ApiEvent, ApiState } from '../api/api.ts'
import { conditionsOf, requireOneSearch, type SearchFor } from '../api/facets.routes.ts'
import type { EnvironmentNames } from '../environment/environment.projection.ts'
import type { RequestJob } from './job.routes.ts'
import type { JobKind } from './job.runner.ts'
import type { StoredChange } from './job.ts'

type ApiFilter = NonNullable<Parsed<NonNullable<typeof changeApis.body>>['filter']>

const AT_ONCE = 8

interface BulkRoutes {
  apis: Collection<ApiDocument>
  searchFor: SearchFor
  environments: Pick<EnvironmentNames, 'resolved'>
  requestJob: RequestJob
}

export function bulkRoutes(route: AddRoute, { apis, searchFor, environments, requestJob }: BulkRoutes): void {
  route(changeApis, async ({ body, creationMetadata: metadata, newId }) => {
    const { ids } = body
    const filter = await environments.resolved(body.filter ?? {})
    const { times, change } = withoutTimes(body.change)
    requireOneSearch(filter)
    const items =
      ids?.map((id, n) => (times ? `${id} ${times[n]}` : id)) ??
      (await selectedBy(apis, filter, await searchFor(filter.q)))
    return requestJob({ id: newId(), task: { type: 'BULK', change }, items: [...new Set(items)], metadata })
  })
}

/** Separates the times of single APIs, which are in the items of the job, from what is done to all. */
function withoutTimes({ delete: deletion, ...others }: BulkChange): {
  change: StoredChange
  times?: string[]
} {
  if (!deletion) return { change: others }
  const { undeploy, unchangedSince } = deletion
  if (Array.isArray(unchangedSince)) return { change: { delete: { undeploy } }, times: unchangedSince }
  return { change: { delete: { undeploy, unchangedSince } } }
}

/** The APIs that a filter selects now. @throws Refusal invalid-request when there are too many */
async function selectedBy(
  apis: Collection<ApiDocument>,
  filter: ApiFilter,
  search: Search | undefined,
): Promise<string[]> {
  const { where = {}, text = [] } = listing(
    { page: 1, size: 1, sort: [], text: filter.text },
    conditionsOf(filter),
  )
  const selected = { where, text, ...(search && { search }) }
  const total = await apis.count(selected)
  if (total > MAX_JOB_ITEMS)
    throw invalidField('filter', `must select at most ${MAX_JOB_ITEMS} APIs, not ${total}`)
  return [...(await idsOf(apis, selected))]
}

export interface BulkChanges {
  api: ApiAggregate
  announceDeletion(executed: Executed<ApiState, ApiEvent>): Promise<void>
}

/** Changes APIs. An item is the id of an API; a time that follows it is that since which the API must not have changed. */
export function bulkChanges({ api, announceDeletion }: BulkChanges): JobKind {
  return {
    atOnce: AT_ONCE,
    nameOf: item => partsOf(item)[0],
    async perform(item, { job, metadata }) {
      if (job.task.type !== 'BULK') throw new Error('the job changes no APIs')
      const { change } = job.task
      const [id, seen] = partsOf(item)
      if (!change.delete) {
        const { delete: _, ...fields } = change
        const { facts } = await api.execute(id, { type: 'ChangeApi', metadata, change: fields })
        return { item: id, api: id, status: facts.length > 0 ? 'UPDATED' : 'UNCHANGED' }
      }
      const { undeploy, unchangedSince = seen ?? job.createdAt } = change.delete
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

function partsOf(item: string): [id: string, unchangedSince?: string] {
  const [id = '', time] = item.split(' ')
  return time === undefined ? [id] : [id, time]
}
