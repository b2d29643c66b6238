import type { SortBy } from '@gantry/contracts'
import type { Condition, Query } from '@gantry/read-models'

interface PageQuery {
  page: number
  size: number
  sort: SortBy[]
  /** What people search for: terms with white space between them. */
  text?: string | undefined
}

/** What a list operation asks of a collection: its page, its order, its search, and the conditions that were given. */
export function listing(
  { page, size, sort, text }: PageQuery,
  where: Record<string, Condition | undefined> = {},
): Query {
  const given = Object.entries(where).filter((entry): entry is [string, Condition] => entry[1] !== undefined)
  return {
    where: Object.fromEntries(given),
    text: text?.split(/\s+/).filter(term => term !== '') ?? [],
    sort,
    skip: (page - 1) * size,
    limit: size,
  }
}

/** The page envelope of a list. */
export const page = <Item>(
  content: Item[],
  total: number,
  { page: number, size }: Pick<PageQuery, 'page' | 'size'>,
) => ({
  content,
  size,
  number,
  totalPages: Math.ceil(total / size),
  totalElements: total,
  last: number * size >= total,
})
