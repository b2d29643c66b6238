import type { OperationFilter } from '../parts/operation-filters.tsx'

/** Reads the state of the list of operations from the URL. Values that it cannot use are left out. */
export function readOperationsSearch(search: Record<string, unknown>): OperationFilter {
  const { deprecated, page } = search
  return {
    ...Object.fromEntries(
      ['q', 'method', 'tag'].flatMap(key => {
        const value = search[key]
        // The router reads `404` in a URL as a number.
        return (typeof value === 'string' && value) || typeof value === 'number' ? [[key, String(value)]] : []
      }),
    ),
    ...(deprecated === true && { deprecated }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
  }
}
