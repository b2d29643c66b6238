import { QueryClient } from '@tanstack/react-query'
import { RequestFailed } from './problem.ts'

const RETRIES = 2
const FRESH_MS = 5_000

/** Failures that may be over a moment later. Reads are sent again on their own; changes are not. */
const isPassing = (error: unknown) =>
  error instanceof RequestFailed &&
  (error.problem.code === 'unreachable' || [429, 502, 503, 504].includes(error.problem.status))

/** The cache of everything that the console has read. It is emptied when the person signs out. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) => failures < RETRIES && isPassing(error),
      retryDelay: (failures, error) => {
        const seconds = error instanceof RequestFailed ? error.problem.retryAfterSeconds : undefined
        return Math.min(seconds ? seconds * 1_000 : 500 * 2 ** failures, 10_000)
      },
    },
    // A change is sent also when the browser believes to be offline, so that its failure is shown.
    mutations: { networkMode: 'always' },
  },
})
