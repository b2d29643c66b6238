import { ApiName } from '../parts/api-name.tsx'
import type { FeedEvent } from './buffer.ts'
import { apiOf, nameIn } from './describe.ts'

/** The name of the resource of an event: as its data has it, else of the API that it concerns, else the id. */
export function Subject({ event }: { event: FeedEvent }) {
  const api = apiOf(event)
  return nameIn(event) ?? (api ? <ApiName id={api} /> : event.subject)
}
