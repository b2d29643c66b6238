import { invalidField, type listApis, type Parsed, requests } from '@gantry/contracts'
import { listing, type Peers } from '@gantry/service-runtime'
import { type Collection, idsOf, type Stored } from '@gantry/stores'
import type { ApiDocument } from './api.projection.ts'
import { conditionsOf } from './facets.routes.ts'

type ListQuery = Parsed<NonNullable<typeof listApis.query>>

/** A page of APIs with their scores, and the number of all. */
export interface Scored {
  items: Stored<ApiDocument>[]
  total: number
  scores: ReadonlyMap<string, number>
}

/**
 * The APIs with a document below a score, the worst first. Each list asks media for the scores: they change with rules, not
 * with APIs.
 */
export const scoredBy =
  (apis: Pick<Collection<ApiDocument>, 'list' | 'existing' | 'getMany'>, peers: Pick<Peers, 'ask'>) =>
  async (score: number, query: ListQuery): Promise<Scored> => {
    const { q, at, sort } = query
    const [other] = Object.entries({ q, at, sort: sort[0] }).find(([, value]) => value !== undefined) ?? []
    if (other !== undefined) throw invalidField('scoreBelow', `must not be given together with ${other}`)
    const scores = new Map((await peers.ask(requests.scoresBelow, { score })).scores)
    const selected = await selectedBy(apis, query, [...scores.keys()])
    const ids = [...scores.keys()].filter(id => selected.has(id))
    const from = (query.page - 1) * query.size
    const shown = ids.slice(from, from + query.size)
    const found = new Map((await apis.getMany(shown)).map(one => [one.doc.id, one]))
    return { items: shown.flatMap(id => found.get(id) ?? []), total: ids.length, scores }
  }

/** The APIs that the other filters select: all existing ones without a filter. */
async function selectedBy(
  apis: Pick<Collection<ApiDocument>, 'list' | 'existing'>,
  query: ListQuery,
  ids: string[],
): Promise<ReadonlySet<string>> {
  const { where = {}, text = [] } = listing(query, conditionsOf(query))
  if (Object.keys(where).length === 0 && text.length === 0) return apis.existing(ids)
  return idsOf(apis, { where, text })
}
