/** The state of the system page in the URL. */
export interface SystemSearch {
  /** How lag is shown; by default in events. */
  lag?: 'seconds'
}

export const readSystemSearch = ({ lag }: Record<string, unknown>): SystemSearch =>
  lag === 'seconds' ? { lag } : {}
