import { setImmediate } from 'node:timers/promises'
import { type ApiFacets, getApiFacets, type Parsed } from '@gantry/contracts'
import { type AddRoute, listing, type NamesOf } from '@gantry/service-runtime'
import type { Collection, Condition } from '@gantry/stores'
import type { ApiDocument } from './api.projection.ts'

export interface FacetRoutes {
  documents: Pick<Collection<ApiDocument>, 'facet' | 'count'>
  namesOf: NamesOf
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
    deployed: deployed === true ? true : undefined,
  }
}

export function facetRoutes(route: AddRoute, { documents, namesOf }: FacetRoutes): void {
  route(getApiFacets, async ({ query }) => {
    const { where, text } = listing({ page: 1, size: 1, sort: [], text: query.text }, conditionsOf(query))
    const filter = { ...(where && { where }), ...(text && { text }) }
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
