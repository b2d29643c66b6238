import { type Job, STATUSES } from '../parts/jobs.ts'

/** The state of the list of jobs in the URL. */
export interface JobSearch {
  status?: Job['status']
  page?: number
}

/** Reads the state from the URL. Values that it cannot use are left out. */
export function readJobSearch({ status, page }: Record<string, unknown>): JobSearch {
  return {
    ...(isStatus(status) && { status }),
    ...(typeof page === 'number' && Number.isInteger(page) && page > 1 && { page }),
  }
}

const isStatus = (value: unknown): value is Job['status'] =>
  typeof value === 'string' && Object.hasOwn(STATUSES, value)
