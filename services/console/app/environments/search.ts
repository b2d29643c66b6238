/** The state of the list of environments in the URL. */
export interface EnvironmentSearch {
  page?: number
}

/** Reads the state from the URL. Values that it cannot use are left out. */
export const readEnvironmentSearch = ({ page }: Record<string, unknown>): EnvironmentSearch =>
  typeof page === 'number' && Number.isInteger(page) && page > 1 ? { page } : {}
