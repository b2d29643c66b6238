import {
  createVersion,
  deleteVersion,
  getVersion,
  listVersions,
  Refusal,
  type requests,
  updateVersion,
} from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { type AddRoute, listing, type Moment, type Moments, page } from '@gantry/service-runtime'
import type { Stored } from '@gantry/stores'
import type { z } from 'zod'
import type { ApiAggregate } from './api.decide.ts'
import { type ApiDocument, type VersionDocument, versionRecordOf } from './api.projection.ts'
import type { ApiEvent, ApiState } from './api.ts'
import { linksTo } from './documents.ts'

/** APIs and versions, now and at earlier times. */
interface Views {
  apis: Moments<ApiDocument>
  versions: Moments<VersionDocument>
}

export interface VersionRoutes extends Views {
  api: ApiAggregate
  /** Notifies other services of a deletion before the response, instead of with the delay of the relay. */
  announceDeletion(executed: Executed<ApiState, ApiEvent>): Promise<void>
  /** Maximum number of versions of an API; 0 for no limit. */
  limit: number
}

export function versionRoutes(
  route: AddRoute,
  { api, limit, announceDeletion, ...views }: VersionRoutes,
): void {
  route(listVersions, async ({ params, query }) => {
    const moment = await momentOf(views, params.api_id, query.at)
    const { items, total } = await moment.find(listing(query, { api: params.api_id }))
    const content = items.map(({ doc }) => versionRecordOf(doc))
    return { status: 200, body: page(content, total, query) }
  })

  route(getVersion, async ({ params, query: { at } }) => {
    const doc = await findVersion(views, params.api_id, params.version_id, at)
    const headers = linksTo(
      at === undefined ? doc.documents : [],
      ({ name }) => `${doc.id}/documents/${name}`,
    )
    return { status: 200, ...current(doc), headers }
  })

  route(createVersion, async ({ params, body, metadata, newId }) => {
    const { api_id } = params
    const id = newId()
    await api.execute(api_id, { type: 'CreateVersion', metadata, api: api_id, id, input: body, limit })
    return {
      status: 201,
      ...current(await findVersion(views, api_id, id)),
      location: `/apis/${api_id}/versions/${id}`,
    }
  })

  route(updateVersion, async ({ params, body, metadata, ifMatch }) => {
    const { api_id, version_id } = params
    const known = await versionId(api_id, version_id)
    await api.execute(api_id, { type: 'UpdateVersion', metadata, ifMatch, version: known, input: body })
    return { status: 200, ...current(await findVersion(views, api_id, known)) }
  })

  route(deleteVersion, async ({ params, metadata, ifMatch }) => {
    const { api_id, version_id } = params
    await announceDeletion(
      await api.execute(api_id, { type: 'DeleteVersion', metadata, ifMatch, version: version_id }),
    )
    return { status: 204 }
  })

  /** The id of a version given by id or name. Needed before an update, since that may change the name. */
  const versionId = async (apiId: string, idOrName: string) => {
    return (await findVersion(views, apiId, idOrName)).id
  }

  const current = (doc: VersionDocument) => ({
    body: versionRecordOf(doc),
    revision: doc.versionRevision,
  })
}

/** The versions of an API at a time, or as they are now. @throws Refusal api-not-found */
async function momentOf(
  { apis, versions }: Views,
  apiId: string,
  at?: string,
): Promise<Moment<VersionDocument>> {
  const [ofApis, moment] = await Promise.all([apis.at(at, apiId), versions.at(at, apiId)])
  if (!(await ofApis.get(apiId))) throw new Refusal('api-not-found')
  return moment
}

/** Answers the request for a version. @throws Refusal api-not-found, version-not-found */
export async function versionFor(
  views: Views,
  { api: id, version, at, active }: z.infer<typeof requests.findVersion.asked>,
): Promise<VersionDocument> {
  const found = await findVersion(views, id, version, at)
  if (!active) return found
  const api = await (await views.apis.at(undefined, id)).get(id)
  if (api?.doc.status !== 'ACTIVE') throw new Refusal('api-not-found')
  return found
}

/** The version of an API that an id or a name means. @throws Refusal api-not-found, version-not-found */
async function findVersion(
  views: Views,
  apiId: string,
  idOrName: string,
  at?: string,
): Promise<VersionDocument> {
  const moment = await momentOf(views, apiId, at)
  const byId = await moment.get(idOrName.toLowerCase())
  if (byId?.doc.api === apiId) return byId.doc
  const [byName]: Stored<VersionDocument>[] = await moment.list({
    where: { api: apiId, name: idOrName },
    limit: 1,
  })
  if (!byName) throw new Refusal('version-not-found')
  return byName.doc
}
