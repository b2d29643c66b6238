import type { Query, Schemas, Sort } from '../http/schemas.ts'

/** A record of a list of APIs. */
export type Api = Schemas['Api']
/** The filters of a list of APIs. */
export type ApiFilters = Query<'getApiFacets'>
/** A list of APIs without its page. */
export type ApiList = ApiFilters & { sort: Sort<'listApis'>[]; scoreBelow?: number }

/** The state of the catalogue in the URL. */
export interface ApiSearch {
  /** Search terms, separated by white space. */
  search?: string
  name?: string
  status?: Api['status']
  deployed?: boolean
  tags?: string[]
  owner?: string
  platformType?: string
  environment?: string
  product?: string
  /** Property and direction, e.g. `updatedAt,desc`. */
  sort?: string
}

/** A filter of the catalogue, as its key in the URL. */
export type FilterKey = Exclude<keyof ApiSearch, 'search' | 'sort'>

/** The order of a search without a choice, which the service knows as no order at all. */
const RELEVANCE = 'relevance'

/** The order of the lists of APIs with findings, which cannot be searched. */
const SCORE = 'score'

/** The orders of the list, with what they are called. The first one is the order of a list without a search. */
const SORTS: readonly { value: string; label: string }[] = [
  { value: 'displayName,asc', label: 'Name, A to Z' },
  { value: 'displayName,desc', label: 'Name, Z to A' },
  { value: 'name,asc', label: 'Technical name, A to Z' },
  { value: 'name,desc', label: 'Technical name, Z to A' },
  { value: 'updatedAt,desc', label: 'Last changed first' },
  { value: 'updatedAt,asc', label: 'Last changed last' },
  { value: 'createdAt,desc', label: 'Newest first' },
  { value: 'createdAt,asc', label: 'Oldest first' },
  { value: 'status,asc', label: 'Active first' },
  { value: 'status,desc', label: 'Inactive first' },
  { value: 'deploymentStatus,asc', label: 'Deployment status, A to Z' },
  { value: 'deploymentStatus,desc', label: 'Deployment status, Z to A' },
  { value: 'platformType,asc', label: 'Platform, A to Z' },
  { value: 'platformType,desc', label: 'Platform, Z to A' },
]
const [{ value: FIRST_SORT } = { value: '' }] = SORTS

/** The orders to choose from. */
export const sortsOf = ({ search }: ApiSearch): { value: string; label: string }[] => [
  ...(search ? [{ value: RELEVANCE, label: 'Best match first' }] : []),
  ...SORTS,
  ...(search ? [] : [{ value: SCORE, label: 'With findings, lowest score first' }]),
]

/** Maximum number of tags that the service filters by. */
const MOST_TAGS = 50
const TEXTS = ['search', 'name', 'owner', 'platformType', 'environment', 'product'] as const

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readApiSearch(search: Record<string, unknown>): ApiSearch {
  const found: ApiSearch = {}
  for (const key of TEXTS) {
    const value = textOf(search[key])
    if (value) found[key] = value
  }
  if (search.status === 'ACTIVE' || search.status === 'INACTIVE') found.status = search.status
  if (typeof search.deployed === 'boolean') found.deployed = search.deployed
  const tags = [search.tags].flat().flatMap(tag => textOf(tag) ?? [])
  if (tags.length > 0) found.tags = [...new Set(tags)].slice(0, MOST_TAGS)
  const sort = sortsOf(found).find(({ value }) => value === search.sort && value !== RELEVANCE)
  if (sort && (found.search || sort.value !== FIRST_SORT)) found.sort = sort.value
  return found
}

/** The router reads `404` in a URL as a number. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined

/** The filters for the service. */
export function filtersOf({ search, sort: _, deployed, ...filters }: ApiSearch): ApiFilters {
  const deployment = deployed === undefined ? {} : deployed ? { deployed } : { notDeployed: true }
  return { ...filters, ...deployment, ...(search && { q: search }) }
}

/** The order of the list. */
export const sortOf = ({ sort, search }: ApiSearch): string => sort ?? (search ? RELEVANCE : FIRST_SORT)

/** The list that a state of the catalogue shows. Records with equal values are in the order of their names. */
export function listOf(search: ApiSearch): ApiList {
  const sort = sortOf(search)
  if (sort === RELEVANCE) return { ...filtersOf(search), sort: [] }
  if (sort === SCORE) return { ...filtersOf(search), sort: [], scoreBelow: 100 }
  const order = sort as Sort<'listApis'>
  return { ...filtersOf(search), sort: order.startsWith('name,') ? [order] : [order, 'name,asc'] }
}

/** Whether anything narrows the list. */
export const isFiltered = ({ sort, ...filters }: ApiSearch): boolean =>
  sort === SCORE || Object.keys(filters).length > 0

/** Adds or removes a value of a filter. A filter other than `tags` has at most one value. */
export function toggled(search: ApiSearch, key: FilterKey, value: string): ApiSearch {
  const { [key]: before, ...others } = search
  if (key === 'tags') {
    const tags = search.tags ?? []
    const after = tags.includes(value) ? tags.filter(tag => tag !== value) : [...tags, value]
    return after.length > 0 ? { ...others, tags: after } : others
  }
  return String(before) === value
    ? others
    : readApiSearch({ ...others, [key]: key === 'deployed' ? value === 'true' : value })
}

/** In the order without a choice. */
export const withoutSort = ({ sort: _, ...search }: ApiSearch): ApiSearch => search

/** Without filters and search terms; the order stays. */
export const withoutFilters = ({ sort }: ApiSearch): ApiSearch => (sort && sort !== SCORE ? { sort } : {})
