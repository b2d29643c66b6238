import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'

export type Job = Schemas['Job']
export type JobResult = Schemas['JobResult']

const BETWEEN_READS_MS = 700
const RESULTS = 20

/** The statuses of jobs with their colors, in words. */
export const STATUSES: Readonly<Record<Job['status'], readonly [color: string, text: string]>> = {
  QUEUED: ['gray', 'Waiting'],
  RUNNING: ['blue', 'Running'],
  COMPLETED: ['teal', 'Completed'],
  FAILED: ['red', 'Failed'],
  CANCELLED: ['gray', 'Cancelled'],
}

/** Whether a job will not change any more. */
export const hasEnded = ({ finishedAt }: Job): boolean => finishedAt !== null

/** A job. It is read again until it has ended. */
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs', id],
    queryFn: ({ signal }) => answer(client.getJob({ job_id: id }, { signal })),
    refetchInterval: ({ state: { data } }) => (data && hasEnded(data) ? false : BETWEEN_READS_MS),
  })

/** A page of the results of a job. @param failed only those of the items that failed */
export const resultsQuery = ({ id, done, failed: failures }: Job, page: number, failed: boolean) =>
  queryOptions({
    // Each result changes these numbers.
    queryKey: ['jobs', id, 'results', page, failed, done, failures],
    queryFn: ({ signal }) =>
      answer(
        client.listJobResults(
          { job_id: id, page, size: RESULTS, ...(failed && { status: 'FAILED' as const }) },
          { signal },
        ),
      ),
    placeholderData: keepPreviousData,
  })
