import { QueryClient } from '@tanstack/react-query'
import { asProblem } from './problem.ts'
import { session } from './session.ts'

const RETRIES = 2
const FRESH_MS = 5_000
/** Longer waits are shown with the time at which the person can try again. */
const LONGEST_WAIT_S = 3

/** Failures that may be over a moment later. Reads are sent again on their own; changes are not. */
function isPassing(error: unknown): boolean {
  const { code, status, retryAfterSeconds = 0 } = asProblem(error)
  if (retryAfterSeconds > LONGEST_WAIT_S) return false
  return code === 'unreachable' || [429, 502, 503, 504].includes(status)
}

/** The cache of everything that the console has read. It is emptied when the session ends, here or in another tab. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) => failures < RETRIES && isPassing(error),
      retryDelay: (failures, error) => {
        const seconds = asProblem(error).retryAfterSeconds
        return seconds ? seconds * 1_000 : 500 * 2 ** failures
      },
    },
    // A change is sent also when the browser believes to be offline, so that its failure is shown.
    mutations: { networkMode: 'always' },
  },
})

session.subscribe(() => {
  if (!session.current()) queries.clear()
})
