import type { Job } from '../parts/jobs.ts'

/** The state of the list of jobs in the URL. */
export interface JobSearch {
  status?: Job['status']
  page?: number
}

/** The statuses of jobs in words. */
export const STATUSES: readonly { value: Job['status']; label: string }[] = [
  { value: 'QUEUED', label: 'Waiting' },
  { value: 'RUNNING', label: 'Running' },
  { value: 'COMPLETED', label: 'Completed' },
  { value: 'FAILED', label: 'Failed' },
  { value: 'CANCELLED', label: 'Cancelled' },
]

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readJobSearch({ status, page }: Record<string, unknown>): JobSearch {
  const known = STATUSES.find(({ value }) => value === status)
  return {
    ...(known && { status: known.value }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
  }
}
