import type { DescribedOperation, DocumentRecord } from '@gantry/contracts'
import {
  knowsSchema,
  type Log,
  type Projected,
  type Projection,
  type RecordedEvent,
  streamId,
  upcast,
} from '@gantry/event-sourcing'
import { type Collection, defineCollection, type Write } from '@gantry/stores'
import { BytesLost } from '../bytes/bytes.ts'
import { EXTRACTION } from '../check/checked.ts'
import type { Contents } from './contents.ts'
import type { DocumentsAggregate } from './document.decide.ts'
import { type DocumentsState, documentEvents, documentIn, idOf } from './document.ts'

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
  aggregate: Pick<DocumentsAggregate, 'load'>
  contents: Pick<Contents, 'of'>
  log: Log
}

/**
 * Projects the operations of documents. The log has only the hashes of documents, so the operations come from the stored
 * bytes, or from what was derived from them. It shows the documents as they are now, whichever event is projected: the
 * bytes of replaced documents may be gone.
 */
export function operationsProjection({ aggregate, contents, log }: OperationsProjectionOptions): Projection {
  const writesFor = async (
    stream: string,
    events: readonly RecordedEvent[],
    rows: Pick<Collection<OperationDocument>, 'existing'>,
  ): Promise<Projected> => {
    const api = streamId(stream)
    const { state, revision, unknown = [] } = await aggregate.load(api)
    const writes: Write[] = []
    for (const [id, { version, name, count }] of changedBy(events, state)) {
      const document = state.status === 'Live' ? documentIn(state, version, name) : undefined
      const found = document ? await operationsOf(document) : []
      const write = (index: number, doc: OperationDocument | null) =>
        writes.push({ collection: operations, id: `${id}/${index}`, doc, revision })
      for (const [index, operation] of found.entries())
        write(index, { id: `${id}/${index}`, api, version, document: name, ...operation })
      const end = await endOf(rows, id, Math.max(found.length, count))
      // The last ones first: a removal that was interrupted leaves a gap of less than PROBED.
      for (let index = end - 1; index >= found.length; index--) write(index, null)
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
    async writes(events, _again, { collection }) {
      const [first] = events
      return first ? writesFor(first.stream, events, collection(operations)) : { writes: [], unknown: [] }
    },
    written() {},
    knows: schema => knowsSchema(documentEvents, schema),
  }
}

interface Named {
  version: string
  name: string
  /** The most operations that the events count. Another process may have died while it wrote those, or still write them. */
  count: number
}

/** The documents that the events of a stream changed, by id. */
function changedBy(events: readonly RecordedEvent[], { versions }: DocumentsState): Map<string, Named> {
  const changed = new Map<string, Named>()
  const note = (version: string, name: string, count = 0) => {
    const id = idOf(version, name)
    changed.set(id, { version, name, count: Math.max(count, changed.get(id)?.count ?? 0) })
  }
  for (const event of events) {
    const known = event.malformed === undefined ? upcast(documentEvents, event) : undefined
    switch (known?.type) {
      case 'DocumentUploaded':
        note(known.data.apiVersion, known.data.name, known.data.counts.operations)
        break
      case 'DocumentDeleted':
        note(known.data.apiVersion, known.data.name)
        break
      case 'VersionDocumentsDiscarded':
        for (const name of known.data.names) note(known.data.apiVersion, name)
        break
      case 'DocumentsDiscarded':
        for (const [version, documents] of versions)
          for (const { name } of documents ?? []) note(version, name)
    }
  }
  return changed
}

/** Number of operations that are looked up at once. More than stores write at once. */
const PROBED = 500

/** The first number without a stored operation of the document; at least `end`. */
async function endOf(
  rows: Pick<Collection<OperationDocument>, 'existing'>,
  id: string,
  end: number,
): Promise<number> {
  const ids = Array.from({ length: PROBED }, (_, index) => `${id}/${end + index}`)
  const existing = await rows.existing(ids)
  return existing.size === 0 ? end : endOf(rows, id, end + ids.findLastIndex(id => existing.has(id)) + 1)
}
