import {
  ApiInput,
  type ApiRecord,
  type ApiSnapshot,
  createApi,
  deleteApi,
  getApi,
  invalidField,
  listApis,
  type Parsed,
  Refusal,
  restoreApi,
  type SortBy,
  updateApi,
} from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import {
  type AddRoute,
  listing,
  type Moments,
  type NamesOf,
  page,
  requirePast,
} from '@gantry/service-runtime'
import { highlightsIn, type Search, type Term, termsOf } from '@gantry/stores'
import type { EnvironmentNames } from '../environment/environment.projection.ts'
import type { ApiAggregate } from './api.decide.ts'
import { type ApiDocument, snapshotOf, type VersionDocument } from './api.projection.ts'
import type { ApiEvent, ApiFields, ApiState } from './api.ts'
import { documentsOf, linksTo } from './documents.ts'
import { conditionsOf, requireOneSearch, type SearchFor } from './facets.routes.ts'
import type { Scored, scoredBy } from './scores.ts'

export interface ApiRoutes {
  api: ApiAggregate
  apis: Moments<ApiDocument>
  versions: Moments<VersionDocument>
  namesOf: NamesOf
  environments: EnvironmentNames
  searchFor: SearchFor
  scoredBelow: ReturnType<typeof scoredBy>
  /** Notifies other services of a deletion before the response, instead of with the delay of the relay. */
  announceDeletion(executed: Executed<ApiState, ApiEvent>): Promise<void>
}

const BY_NAME: SortBy[] = [{ field: 'name', direction: 'asc' }]

interface Included {
  at?: string | undefined
  includeDeployedOn?: boolean | undefined
  includeRunningJobs?: boolean | undefined
  includeDocuments?: boolean | undefined
}

export function apiRoutes(
  route: AddRoute,
  { api, apis, versions, namesOf, environments, searchFor, scoredBelow, announceDeletion }: ApiRoutes,
): void {
  const find = finding(apis)
  const displayNames = displayNamesBy(namesOf)
  const deploymentsOf = showingDeployments(environments)

  route(listApis, async call => {
    const query = await environments.resolved(call.query)
    requireOneSearch(query)
    const search = await searchFor(query.q)
    const { items, total, scores } =
      query.scoreBelow === undefined ? await find(query, search) : await scoredBelow(query.scoreBelow, query)
    const terms = search && termsOf(search.q)
    const docs = items.map(({ doc }) => doc)
    const names = await displayNames(docs.map(({ owner }) => owner))
    const ids = docs.map(({ id }) => id)
    const documents = query.includeDocuments ? await documentsOf(versions, ids, query.at) : undefined
    const deployments = await deploymentsOf(docs, query)
    const content = docs.map(doc => ({
      ...record(doc, names.get(doc.owner ?? '')),
      ...deployments(doc),
      ...(documents && { documents: documents.get(doc.id) ?? [] }),
      ...(terms && { highlights: highlightsOf(doc, names.get(doc.owner ?? ''), terms) }),
      ...(scores && { score: scores.get(doc.id) }),
    }))
    return { status: 200, body: page(content, total, query) }
  })

  route(getApi, async ({ params, query }) => ({ status: 200, ...(await current(params.api_id, query)) }))

  route(createApi, async ({ body, creationMetadata: metadata, newId }) => {
    const id = newId()
    await api.execute(id, { type: 'CreateApi', metadata, id, input: body })
    return { status: 201, ...(await current(id)), location: `/apis/${id}` }
  })

  route(updateApi, async ({ params, body, metadata, ifMatch }) => {
    await api.execute(params.api_id, { type: 'UpdateApi', metadata, ifMatch, input: body })
    return { status: 200, ...(await current(params.api_id)) }
  })

  route(restoreApi, async ({ params, body: { at }, metadata, ifMatch }) => {
    const { body: record } = await current(params.api_id)
    requirePast(at, new Date(metadata.now))
    const { state } = await api.loadAt(params.api_id, at)
    if (state.status !== 'Live')
      throw invalidField('at', `must not be before the API was created, ${record.createdAt}`)
    const fields = restorable(state.record)
    await api.execute(params.api_id, { type: 'RestoreApi', metadata, ifMatch, at, fields })
    return { status: 200, ...(await current(params.api_id)) }
  })

  route(deleteApi, async ({ params, query, metadata, ifMatch }) => {
    const undeploy = query.undeploy === true
    const executed = await api.execute(params.api_id, { type: 'DeleteApi', metadata, ifMatch, undeploy })
    await announceDeletion(executed)
    return { status: 204 }
  })

  const current = async (id: string, included: Included = {}) => {
    const stored = await (await apis.at(included.at, id)).get(id)
    if (!stored) throw new Refusal('api-not-found')
    const { doc } = stored
    const ownerDisplayName = (await displayNames([doc.owner])).get(doc.owner ?? '')
    const found = included.includeDocuments ? await documentsOf(versions, [id], included.at) : undefined
    const documents = found && (found.get(id) ?? [])
    const deployments = (await deploymentsOf([doc], included))(doc)
    const fromOthers = { ...deployments, ...(documents?.length && { documents }) }
    return {
      body: { ...record(doc, ownerDisplayName), ...deployments, ...(documents && { documents }) },
      ...(documents && !included.at && { headers: linksTo(documents, pathIn(id)) }),
      revision: doc.recordRevision,
      variant: variantOf(ownerDisplayName, fromOthers),
    }
  }
}

/** The text that a record has from other streams, see `etag`. */
const variantOf = (ownerDisplayName: string | undefined, others: object) =>
  Object.keys(others).length === 0 ? ownerDisplayName : `${ownerDisplayName} ${JSON.stringify(others)}`

/** Display names by user id, without deleted users. */
const displayNamesBy =
  (namesOf: NamesOf) =>
  async (ids: readonly (string | null)[]): Promise<Map<string, string>> => {
    const names = [...(await namesOf(ids))]
    return new Map(names.flatMap(([id, { displayName, deleted }]) => (deleted ? [] : [[id, displayName]])))
  }

/** The deployments of APIs as their records include them, with the names of environments. */
const showingDeployments =
  (environments: Pick<EnvironmentNames, 'named'>) =>
  async (docs: readonly ApiDocument[], { includeDeployedOn, includeRunningJobs }: Included) => {
    const shown = (doc: ApiDocument) => ({
      ...(includeDeployedOn && { deployedOn: doc.deployedOn }),
      ...(includeRunningJobs && { runningJobs: doc.runningJobs }),
    })
    const ids = docs.flatMap(doc =>
      Object.values(shown(doc)).flatMap(entries => entries.map(on => on.environment)),
    )
    const nameOf = ids.length > 0 ? await environments.named(ids) : () => null
    const withName = <Entry extends { environment: string }>(entry: Entry) => ({
      ...entry,
      environmentName: nameOf(entry.environment),
    })
    return (doc: ApiDocument) => {
      const { deployedOn, runningJobs } = shown(doc)
      return {
        ...(deployedOn && { deployedOn: deployedOn.map(withName) }),
        ...(runningJobs && { runningJobs: runningJobs.map(withName) }),
      }
    }
  }

/** The path of a document from the record of its API. */
const pathIn =
  (id: string) =>
  ({ version, name }: { version: string; name: string }) =>
    `${id}/versions/${version}/documents/${name}`

type ListQuery = Parsed<NonNullable<typeof listApis.query>>

/** Finds a page of APIs, now or at a time. */
const finding =
  (apis: Moments<ApiDocument>) =>
  async (query: ListQuery, search: Search | undefined): Promise<Omit<Scored, 'scores'> & Partial<Scored>> => {
    const sort = query.sort.length > 0 || search ? query.sort : BY_NAME
    const filter = { ...listing({ ...query, sort }, conditionsOf(query)), ...(search && { search }) }
    return (await apis.at(query.at)).find(filter)
  }

/** The fields of an earlier record that a request could set today. @throws Refusal not-restorable */
function restorable(record: ApiSnapshot): ApiFields {
  const parsed = ApiInput.safeParse(record)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
  const detail = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new Refusal('not-restorable', { detail, errors })
}

const record = (doc: ApiDocument, ownerDisplayName: string | undefined): ApiRecord => ({
  ...snapshotOf(doc),
  ownerDisplayName: ownerDisplayName ?? null,
})

/** Where the record has the words of a query: by field, or `tags.` with the number of the tag. */
function highlightsOf(doc: ApiDocument, ownerDisplayName: string | undefined, terms: readonly Term[]) {
  const { name, displayName, description, tags } = doc
  const texts = { name, displayName, description, ownerDisplayName, ...prefixed('tags.', tags) }
  const ranges = Object.entries(texts).map(
    ([field, text]) => [field, highlightsIn(text ?? '', terms)] as const,
  )
  return Object.fromEntries(ranges.filter(([, { length }]) => length > 0))
}

const prefixed = (prefix: string, texts: readonly string[]) =>
  Object.fromEntries(texts.map((text, number) => [`${prefix}${number}`, text]))
