import type { Collection, Document, Filter, Query } from './collection.ts'

type Listed<D extends Document> = Pick<Collection<D>, 'list'>

interface Order<D> {
  /** A field of strings. Documents without it are left out. */
  by: keyof D & string
  /** Number of documents of a page. */
  size: number
}

/**
 * The documents that a query finds, in the order of a field whose values all differ, page by page. The next page begins
 * after the last value of the one before, so that no document is left out when others are removed meanwhile.
 */
export async function* pagesOf<D extends Document>(
  collection: Listed<D>,
  { by, size, where, ...query }: Order<D> & Omit<Query, 'limit' | 'skip' | 'sort'>,
): AsyncGenerator<D[]> {
  const range = where?.[by] as { gt?: string } | undefined
  for (let after: unknown = range?.gt ?? ''; ; ) {
    const found = await collection.list({
      ...query,
      where: { ...where, [by]: { ...range, gt: after as string } },
      sort: [{ field: by, direction: 'asc' }],
      limit: size,
    })
    yield found.map(({ doc }) => doc)
    if (found.length < size) return
    after = found.at(-1)?.doc[by]
  }
}

/** Ids of the documents that a filter finds. If one is removed meanwhile, another one can be left out. */
export async function idsOf<D extends Document>(collection: Listed<D>, filter: Filter): Promise<Set<string>> {
  const ids = new Set<string>()
  const limit = 1_000
  for (let skip = 0, more = true; more; skip += limit) {
    const found = await collection.list({ ...filter, skip, limit, parts: [] })
    for (const { doc } of found) ids.add(doc.id)
    more = found.length === limit
  }
  return ids
}
