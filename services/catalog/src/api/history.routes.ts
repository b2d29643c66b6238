import { getApiHistory, getVersionHistory, Refusal } from '@gantry/contracts'
import type { Period } from '@gantry/event-sourcing'
import { type AddRoute, hasHistory, historyPage, type NamesOf } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import { type ApiHistoryDocument, versionHistory } from './api.history.ts'
import type { VersionDocument } from './api.projection.ts'

export interface HistoryRoutes {
  history: Collection<ApiHistoryDocument>
  periods: Collection<VersionDocument & Period>
  /** Waits until the history has all changes of an API that are in the log now. @throws Refusal unavailable */
  upToDate(id: string): Promise<void>
  namesOf: NamesOf
}

export function historyRoutes(route: AddRoute, { history, periods, upToDate, namesOf }: HistoryRoutes): void {
  route(getApiHistory, async ({ params: { api_id }, query, principal }) => {
    await upToDate(api_id)
    await apiExisted(api_id)
    const place = query.includeVersions ? 'inApi' : 'inResource'
    return historyPage(history, [place, api_id], query, { principal, namesOf })
  })

  route(getVersionHistory, async ({ params: { api_id, version_id }, query, principal }) => {
    await upToDate(api_id)
    await apiExisted(api_id)
    const version = versionHistory(api_id, await versionId(api_id, version_id))
    return historyPage(history, ['inResource', version], query, { principal, namesOf })
  })

  const apiExisted = async (id: string) => {
    if (!(await hasHistory(history, ['inResource', id]))) throw new Refusal('api-not-found')
  }

  /** The id of a version given by id or name. A name means the version that had it last. */
  const versionId = async (api: string, idOrName: string) => {
    const id = idOrName.toLowerCase()
    if (await hasHistory(history, ['inResource', versionHistory(api, id)])) return id
    const [named] = await periods.list({
      where: { api, name: idOrName },
      sort: [{ field: 'validFrom', direction: 'desc' }],
      limit: 1,
    })
    if (!named) throw new Refusal('version-not-found')
    return named.doc.resource
  }
}
