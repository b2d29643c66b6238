import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import type { Job } from '../parts/jobs.ts'
import type { Api } from './search.ts'
import type { Picked } from './selection.ts'

/** What is done to each selected API. */
export type Change =
  | { type: 'tags'; add: string[]; remove: string[] }
  | { type: 'status'; status: Api['status'] }
  | { type: 'owner'; owner: string }
  | { type: 'delete'; undeploy: boolean }

/** The kind of a change. */
export type BulkAction = Change['type']

/** Maximum number of APIs of a job. */
export const MOST_APIS = 10_000

/**
 * Starts the job that changes the APIs.
 * @param warned whether the person knows that some have changed since they were listed. Otherwise those are not deleted:
 * another version than the person has seen may be one that they want to keep.
 * @param key the Idempotency-Key
 * @throws ProblemError or ConnectionError
 */
export function start(change: Change, apis: readonly Picked[], warned: boolean, key: string): Promise<Job> {
  const seen = warned ? undefined : apis.map(({ updatedAt }) => updatedAt)
  const body = { ids: apis.map(({ id }) => id), change: bodyOf(change, seen) }
  return answer(client.changeApis({ body }, { idempotencyKey: key }))
}

function bodyOf(change: Change, unchangedSince: string[] | undefined): Schemas['BulkChange'] {
  if (change.type === 'tags') return { tags: { add: change.add, remove: change.remove } }
  if (change.type === 'status') return { status: change.status }
  if (change.type === 'owner') return { owner: change.owner }
  return { delete: { undeploy: change.undeploy, ...(unchangedSince && { unchangedSince }) } }
}
