import { type CollectionDefinition, type Filter, type Query, UnknownField } from './collection.ts'

const MAX_LIMIT = 1_000

/** What every adapter requires of the queries of a collection. */
export interface QueryChecks {
  /** @throws UnknownField */
  field(name: string): void
  /** @returns the filter without empty terms @throws UnknownField, RangeError */
  filter(filter: Filter): Required<Pick<Filter, 'where' | 'text'>> & Pick<Filter, 'textAs' | 'search'>
  /** @throws UnknownField, RangeError */
  page(query: Query): void
}

// biome-ignore lint/suspicious/noExplicitAny: collections of different documents
export function queryChecks({ name: collection, fields }: CollectionDefinition<any>): QueryChecks {
  const field = (name: string) => {
    if (!Object.hasOwn(fields, name)) throw new UnknownField(collection, name)
  }
  return {
    field,
    filter({ where = {}, text = [], textAs, search }) {
      for (const name of Object.keys(where)) field(name)
      if (textAs) field(textAs.field)
      if (search?.named) field(search.named.field)
      if (text.some(term => /\s/.test(term)))
        throw new RangeError('a search term must not contain whitespace')
      const rest = { ...(textAs && { textAs }), ...(search && { search }) }
      return { where, text: text.filter(term => term !== ''), ...rest }
    },
    page({ sort = [], skip = 0, limit }) {
      for (const sorted of sort) field(sorted.field)
      if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT && skip >= 0))
        throw new RangeError(`a page has 1 to ${MAX_LIMIT} documents and skips 0 or more`)
    },
  }
}
