import type { SortBy } from '@gantry/contracts'
import type { Condition, Query } from '@gantry/stores'

interface PageQuery {
  page: number
  size: number
  sort: SortBy[]
  /** Search terms, separated by white space. */
  text?: string | undefined
}

/** Search terms, as `text` of a request has them. */
export const termsOf = (text = ''): string[] => text.split(/\s+/).filter(term => term !== '')

/** The query of a collection for a list operation: page, order, search terms, and the conditions that are not undefined. */
export function listing(
  { page, size, sort, text }: PageQuery,
  where: Record<string, Condition | undefined> = {},
): Query {
  const given = Object.entries(where).filter((entry): entry is [string, Condition] => entry[1] !== undefined)
  return {
    where: Object.fromEntries(given),
    text: termsOf(text),
    sort,
    skip: (page - 1) * size,
    limit: size,
  }
}

/** The response body of a list operation: a page and its totals. */
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
