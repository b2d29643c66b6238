import { setImmediate } from 'node:timers/promises'
import { type ApiFacets, getApiFacets, invalidField, type Parsed } from '@gantry/contracts'
import { type AddRoute, listing, type NamesOf } from '@gantry/service-runtime'
import type { Collection, Condition, Search } from '@gantry/stores'
import type { EnvironmentNames } from '../environment/environment.projection.ts'
import type { ApiDocument } from './api.projection.ts'

export interface FacetRoutes {
  documents: Pick<Collection<ApiDocument>, 'facet' | 'count'>
  namesOf: NamesOf
  environments: Pick<EnvironmentNames, 'resolved'>
  searchFor: SearchFor
}

/** The search for the parameter q; undefined without one. */
export type SearchFor = (q: string | undefined) => Promise<Search | undefined>

/** @throws Refusal invalid-request when parameters exclude each other */
export function requireOneSearch({ q, text, at }: { q?: string; text?: string; at?: string }): void {
  const [other] = Object.entries({ text, at }).find(([, value]) => value !== undefined) ?? []
  if (q !== undefined && other) throw invalidField('q', `must not be given together with ${other}`)
}

type Filters = Parsed<NonNullable<typeof getApiFacets.query>>

/** Fields of the documents, by facet. */
const FIELDS = {
  status: 'status',
  deploymentStatus: 'deploymentStatus',
  deployed: 'deployed',
  platformType: 'platformType',
  tags: 'tags',
  owner: 'owner',
  environment: 'environments',
  product: 'products',
} as const
const MOST_VALUES = 100

/** The conditions of the filters of a list of APIs. */
export function conditionsOf({
  tags,
  deployed,
  notDeployed,
  environment,
  product,
  ...filters
}: Filters): Record<string, Condition | undefined> {
  const { name, owner, platformType, status } = filters
  return {
    ...{ name, owner, platformType, status },
    environments: environment,
    products: product,
    tags: tags && tags.length > 0 ? { all: tags } : undefined,
    deployed: notDeployed ? (deployed ? { in: [] } : false) : deployed || undefined,
  }
}

export function facetRoutes(
  route: AddRoute,
  { documents, namesOf, environments, searchFor }: FacetRoutes,
): void {
  route(getApiFacets, async ({ query }) => {
    requireOneSearch(query)
    const search = await searchFor(query.q)
    const conditions = conditionsOf(await environments.resolved(query))
    const { where, text } = listing({ page: 1, size: 1, sort: [], text: query.text }, conditions)
    const filter = { ...(where && { where }), ...(text && { text }), ...(search && { search }) }
    const facets: Record<string, unknown> = { totalElements: await documents.count(filter) }
    for (const [name, field] of Object.entries(FIELDS)) {
      facets[name] = await documents.facet(filter, field, MOST_VALUES)
      // Other requests are answered between two facets.
      await setImmediate()
    }
    const { owner, ...others } = facets as ApiFacets
    const names = await namesOf(owner.map(({ value }) => value))
    const shown = ({ value, count }: { value: string; count: number }) => {
      const known = names.get(value)
      return { value, displayName: known && !known.deleted ? known.displayName : null, count }
    }
    return { status: 200, body: { ...others, owner: owner.map(shown) } }
  })
}
