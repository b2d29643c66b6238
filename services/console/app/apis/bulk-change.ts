import { answer, client, tagged } from '../http/client.ts'
import { RequestFailed } from '../http/problem.ts'
import { draftOf, inputOf } from './form/draft.ts'
import type { Api } from './search.ts'
import type { Picked } from './selection.ts'

/** What is done to each selected API. */
export type Change =
  | { type: 'tags'; add: readonly string[]; remove: readonly string[] }
  | { type: 'status'; status: Api['status'] }
  | { type: 'owner'; owner: string }
  | { type: 'delete'; undeploy: boolean }

/** The kind of a change. */
export type BulkAction = Change['type']

/** `unchanged`: the API was as asked for already. */
export type Outcome = 'changed' | 'unchanged'

/**
 * Reads one API and changes it with If-Match, so that a change by another person in between is refused.
 * @param warned whether the person knows that it has changed since it was listed
 * @throws RequestFailed e.g. `precondition-failed` after a change by another person
 */
export async function apply(change: Change, api: Picked, warned: boolean): Promise<Outcome> {
  const path = { api_id: api.id }
  try {
    const { body, etag } = await tagged(client.GET('/apis/{api_id}', { params: { path } }))
    const request = { path, header: { 'If-Match': etag } }
    if (change.type === 'delete') {
      if (!warned) requireSeen(api, body)
      const query = change.undeploy ? { undeploy: true } : {}
      await answer(client.DELETE('/apis/{api_id}', { params: { ...request, query } }))
      return 'changed'
    }
    const after = changed(body, change)
    if (JSON.stringify(after) === JSON.stringify(body)) return 'unchanged'
    await answer(client.PUT('/apis/{api_id}', { params: request, body: inputOf(draftOf(after)) }))
    return 'changed'
  } catch (error) {
    const gone = error instanceof RequestFailed && error.problem.code === 'api-not-found'
    if (gone && change.type === 'delete') return 'unchanged'
    throw error
  }
}

/** The API with the change, the other fields as they are. */
function changed(api: Api, change: Exclude<Change, { type: 'delete' }>): Api {
  if (change.type === 'status') return { ...api, status: change.status }
  if (change.type === 'owner') return { ...api, owner: change.owner }
  const kept = api.tags.filter(tag => !change.remove.includes(tag))
  return { ...api, tags: [...new Set([...kept, ...change.add])] }
}

/** Another version of the API than the person has seen may be one that they want to keep. */
function requireSeen(seen: Picked, { updatedAt }: Api) {
  if (seen.updatedAt === updatedAt) return
  throw new RequestFailed({
    status: 412,
    code: 'changed-since-listed',
    title: 'It has changed since it was listed',
    detail: 'It is not deleted. Look at it first, then try again.',
  })
}
