import {
  createVersion,
  deleteVersion,
  getVersion,
  listVersions,
  Refusal,
  updateVersion,
} from '@gantry/contracts'
import { type AddRoute, listing, type Moment, type Moments, page } from '@gantry/service-runtime'
import type { Stored } from '@gantry/stores'
import type { ApiAggregate } from './api.decide.ts'
import { type ApiDocument, type VersionDocument, versionRecordOf } from './api.projection.ts'

export interface VersionRoutes {
  api: ApiAggregate
  apis: Moments<ApiDocument>
  versions: Moments<VersionDocument>
  /** Maximum number of versions of an API; 0 for no limit. */
  limit: number
}

export function versionRoutes(route: AddRoute, { api, apis, versions, limit }: VersionRoutes): void {
  route(listVersions, async ({ params, query }) => {
    const moment = await momentOf(params.api_id, query.at)
    const { items, total } = await moment.find(listing(query, { api: params.api_id }))
    const content = items.map(({ doc }) => versionRecordOf(doc))
    return { status: 200, body: page(content, total, query) }
  })

  route(getVersion, async ({ params, query: { at } }) => {
    const moment = await momentOf(params.api_id, at)
    return { status: 200, ...current(await find(params.api_id, params.version_id, moment)) }
  })

  route(createVersion, async ({ params, body, metadata, newId }) => {
    const { api_id } = params
    const id = newId()
    await api.execute(api_id, { type: 'CreateVersion', metadata, api: api_id, id, input: body, limit })
    return {
      status: 201,
      ...current(await find(api_id, id, await versions.at(undefined))),
      location: `/apis/${api_id}/versions/${id}`,
    }
  })

  route(updateVersion, async ({ params, body, metadata, ifMatch }) => {
    const { api_id, version_id } = params
    const known = await versionId(api_id, version_id)
    await api.execute(api_id, { type: 'UpdateVersion', metadata, ifMatch, version: known, input: body })
    return { status: 200, ...current(await find(api_id, known, await versions.at(undefined))) }
  })

  route(deleteVersion, async ({ params, metadata, ifMatch }) => {
    const { api_id, version_id } = params
    await api.execute(api_id, { type: 'DeleteVersion', metadata, ifMatch, version: version_id })
    return { status: 204 }
  })

  /** The versions of an API at a time, or as they are now. @throws Refusal api-not-found */
  const momentOf = async (apiId: string, at?: string): Promise<Moment<VersionDocument>> => {
    const [ofApis, moment] = await Promise.all([apis.at(at, apiId), versions.at(at, apiId)])
    if (!(await ofApis.get(apiId))) throw new Refusal('api-not-found')
    return moment
  }

  const find = async (
    apiId: string,
    idOrName: string,
    moment: Moment<VersionDocument>,
  ): Promise<VersionDocument> => {
    const byId = await moment.get(idOrName.toLowerCase())
    if (byId?.doc.api === apiId) return byId.doc
    const [byName]: Stored<VersionDocument>[] = await moment.list({
      where: { api: apiId, name: idOrName },
      limit: 1,
    })
    if (!byName) throw new Refusal('version-not-found')
    return byName.doc
  }

  /** The id of a version given by id or name. Needed before an update, since that may change the name. */
  const versionId = async (apiId: string, idOrName: string) => {
    return (await find(apiId, idOrName, await momentOf(apiId))).id
  }

  const current = (doc: VersionDocument) => ({
    body: versionRecordOf(doc),
    revision: doc.versionRevision,
  })
}
