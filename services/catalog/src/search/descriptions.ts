import { MAX_DESCRIBED, requests } from '@gantry/contracts'
import { knowsSchema, type Projection, type RecordedEvent, streamId, upcast } from '@gantry/event-sourcing'
import type { Peers } from '@gantry/service-runtime'
import { defineCollection, idsOf, type Write } from '@gantry/stores'
import type { ApiAggregate } from '../api/api.decide.ts'
import { type ApiState, apiEvents } from '../api/api.ts'
import { documentsOf } from '../api/version.ts'

/** What a document of a version says, for searches. Its id is that of the version with the name of the document. */
export interface DescriptionDocument {
  id: string
  api: string
  version: string
  title: string | null
  /** Each as its path, id and summary. */
  operations: string[]
}

/**
 * Apart from the APIs, so that a change of an API does not write the words of its documents again. Increase the version also
 * when media extracts more from documents.
 */
export const descriptions = defineCollection<DescriptionDocument>({
  name: 'catalog.descriptions',
  version: 1,
  fields: { api: 'string', version: 'string' },
  search: { fields: { title: { weight: 1.5, words: 4 }, operations: { weight: 4, words: 300 } } },
})

/** Operations of a document that can be found. */
const MOST_OPERATIONS = 5_000

/**
 * Projects what documents say. The log has only their counts: media tells the rest, as the documents are now. While it does
 * not answer, the projector tries again, and nothing else of the catalog waits.
 */
export function descriptionsProjection({
  api: aggregate,
  peers,
}: {
  api: Pick<ApiAggregate, 'load'>
  peers: Pick<Peers, 'ask'>
}): Projection {
  const describe = async (id: string, { api, version, name }: Named): Promise<DescriptionDocument | null> => {
    const described: DescriptionDocument = { id, api, version, title: null, operations: [] }
    for (let from = 0; from < MOST_OPERATIONS; from += MAX_DESCRIBED) {
      const { description } = await peers.ask(requests.describedBy, { api, version, name, from })
      if (!description) return null
      described.title = description.title
      described.operations.push(...description.operations)
      if (described.operations.length >= description.total) break
    }
    return described
  }

  return {
    category: 'api',
    async writes(events, _again, { collection }) {
      const [first] = events
      const { documents, deleted, others } = changedBy(events)
      // Most changes of APIs are not about documents.
      if (!first || others === events.length) return { writes: [], unknown: [] }
      const api = streamId(first.stream)
      const { state, revision, unknown = [] } = await aggregate.load(api)
      const writes: Write[] = []
      for (const where of deleted)
        for (const id of await idsOf(collection(descriptions), { where: { api, ...where } }))
          writes.push({ collection: descriptions, id, doc: null, revision })
      for (const [id, { version, name }] of documents) {
        const doc = isAttached(state, version, name) ? await describe(id, { api, version, name }) : null
        writes.push({ collection: descriptions, id, doc, revision })
      }
      return { writes, unknown }
    },
    written() {},
    knows: schema => knowsSchema(apiEvents, schema),
  }
}

interface Named {
  api: string
  version: string
  name: string
}

function isAttached(state: ApiState, version: string, name: string): boolean {
  const known = state.status === 'Live' ? state.versions.get(version) : undefined
  return known !== undefined && documentsOf(known).some(document => document.name === name)
}

/**
 * The documents that the events of a stream changed, by id, the versions that they deleted, an API with all, and the number
 * of other events.
 */
function changedBy(events: readonly RecordedEvent[]) {
  const documents = new Map<string, Omit<Named, 'api'>>()
  const deleted: { version?: string }[] = []
  let others = 0
  for (const event of events) {
    const known = event.malformed === undefined ? upcast(apiEvents, event) : undefined
    switch (known?.type) {
      case 'DocumentAttached':
      case 'DocumentDetached': {
        const { id: version, name } = known.data
        documents.set(`${version}/${name}`, { version, name })
        break
      }
      case 'VersionDeleted':
        deleted.push({ version: known.data.id })
        break
      case 'ApiDeleted':
        deleted.push({})
        break
      case undefined:
        break
      default:
        others++
    }
  }
  return { documents, deleted, others }
}
