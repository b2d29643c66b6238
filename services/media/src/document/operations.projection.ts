import type { DescribedOperation, DocumentRecord } from '@gantry/contracts'
import {
  type EventStore,
  knowsSchema,
  type Log,
  type Projected,
  type Projection,
  type RecordedEvent,
  streamId,
  upcast,
} from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/stores'
import { BytesLost } from '../bytes/bytes.ts'
import { EXTRACTION } from '../check/checked.ts'
import type { Contents } from './contents.ts'
import type { DocumentsAggregate } from './document.decide.ts'
import { idOf } from './document.projection.ts'
import { documentEvents, documentIn } from './document.ts'

/** An operation in a document of a version. Its id is that of the document with the number of the operation. */
export interface OperationDocument extends DescribedOperation {
  id: string
}

export const operations = defineCollection<OperationDocument>({
  name: 'media.operations',
  version: EXTRACTION,
  fields: {
    api: 'string',
    version: 'string',
    document: 'string',
    method: 'string',
    path: 'string',
    operationId: 'string',
    tags: 'strings',
    deprecated: 'boolean',
  },
  text: ['path', 'operationId', 'summary'],
})

export interface OperationsProjectionOptions {
  eventStore: Pick<EventStore, 'readStream'>
  aggregate: Pick<DocumentsAggregate, 'load'>
  contents: Pick<Contents, 'of'>
  log: Log
}

/**
 * Projects the operations of documents. The log has only the hashes of documents, so the operations come from the stored
 * bytes, or from what was derived from them. It shows the documents as they are now, whichever event is projected: the
 * bytes of replaced documents may be gone.
 */
export function operationsProjection(options: OperationsProjectionOptions): Projection {
  const { eventStore, aggregate, contents, log } = options

  const writesFor = async (events: readonly RecordedEvent[], stream: string): Promise<Projected> => {
    const api = streamId(stream)
    const { state, revision, unknown = [] } = await aggregate.load(api)
    const most = mostOperations(await eventStore.readStream(stream))
    const writes: Write[] = []
    for (const [id, { version, name }] of changedBy(events, most)) {
      const document = state.status === 'Live' ? documentIn(state, version, name) : undefined
      const found = document ? await operationsOf(document) : []
      const write = (index: number, doc: OperationDocument | null) =>
        writes.push({ collection: operations, id: `${id}/${index}`, doc, revision })
      for (const [index, operation] of found.entries())
        write(index, { id: `${id}/${index}`, api, version, document: name, ...operation })
      for (let index = found.length; index < (most.get(id)?.count ?? 0); index++) write(index, null)
    }
    return { writes, unknown }
  }

  /** None of a document whose bytes are lost. After other errors the projector tries again. */
  const operationsOf = async (document: DocumentRecord) => {
    try {
      return (await contents.of(document)).content.operations
    } catch (error) {
      if (!(error instanceof BytesLost)) throw error
      log.warn({ sha256: document.sha256 }, 'the operations of a document are left out: its bytes are lost')
      return []
    }
  }

  return {
    category: 'documents',
    async writes(events) {
      const [first] = events
      return first ? writesFor(events, first.stream) : { writes: [], unknown: [] }
    },
    written() {},
    knows: schema => knowsSchema(documentEvents, schema),
  }
}

interface Named {
  version: string
  name: string
  /** The most operations that the document had at any time. */
  count: number
}

/** The documents of a stream, by id. */
function mostOperations(events: readonly RecordedEvent[]): Map<string, Named> {
  const most = new Map<string, Named>()
  for (const event of events) {
    const known = event.malformed === undefined ? upcast(documentEvents, event) : undefined
    if (known?.type !== 'DocumentUploaded') continue
    const { apiVersion: version, name, counts } = known.data
    const id = idOf(version, name)
    most.set(id, { version, name, count: Math.max(most.get(id)?.count ?? 0, counts.operations) })
  }
  return most
}

/** Those of the documents of a stream that the events changed. */
function changedBy(
  events: readonly RecordedEvent[],
  all: ReadonlyMap<string, Named>,
): Iterable<[string, Named]> {
  const ids = new Set<string>()
  for (const event of events) {
    const known = event.malformed === undefined ? upcast(documentEvents, event) : undefined
    if (known?.type === 'DocumentsDiscarded') return all
    if (known?.type === 'VersionDocumentsDiscarded')
      for (const name of known.data.names) ids.add(idOf(known.data.apiVersion, name))
    else if (known) ids.add(idOf(known.data.apiVersion, known.data.name))
  }
  return [...all].filter(([id]) => ids.has(id))
}
