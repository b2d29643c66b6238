import { answer, client } from '../http/client.ts'
import type { Query, Schemas } from '../http/schemas.ts'

/** The largest page of the service. */
const SIZE = 100

/**
 * APIs whose name or display name contains a text, the best matches first. The service finds parts of names, and words of
 * display names; both also find descriptions, which are no names.
 */
export async function apisNamed(text: string, signal: AbortSignal): Promise<Schemas['Api'][]> {
  const find = async (query: Query<'listApis'>) =>
    (await answer(client.listApis({ ...query, size: SIZE }, { signal }))).content
  if (text === '') return find({})
  const wanted = text.toLowerCase()
  const found = (await Promise.all([find({ q: text }), find({ text })])).flat()
  const named = found.filter(({ name, displayName }) =>
    [name, displayName].some(each => each.toLowerCase().includes(wanted)),
  )
  return [...new Map(named.map(api => [api.id, api])).values()].slice(0, SIZE)
}
