import { type DocumentChange, streamId } from '@gantry/event-sourcing'
import { type HistoryDocument, historyDocument, historyFields, placeIn } from '@gantry/service-runtime'
import { defineCollection, type Write } from '@gantry/stores'
import {
  type ApiDocument,
  apiPeriods,
  snapshotOf,
  type VersionDocument,
  versionWithDocuments,
} from './api.projection.ts'

/** A change of an API or of a version. */
export interface ApiHistoryDocument extends HistoryDocument {
  /** The place in the history of the API with its versions. */
  inApi: string
}

export const apiHistory = defineCollection<ApiHistoryDocument>({
  name: 'catalog.history',
  version: 2,
  fields: { ...historyFields, inApi: 'string' },
})

export const versionHistory = (api: string, version: string) => `${api}:${version}`

/** Operations whose audit record is that of media. */
const OPERATIONS = {
  ImageAttached: 'API_IMAGE_UPDATED',
  ImageDetached: 'API_IMAGE_DELETED',
  DocumentAttached: 'API_VERSION_DOCUMENT_UPDATED',
  DocumentDetached: 'API_VERSION_DOCUMENT_DELETED',
}

export function projectApiHistory({ collection, id, before, after, event, at }: DocumentChange): Write[] {
  // Events of versions leave the document of their API unchanged.
  if (before === after && event.metadata.change?.resourceId !== id) return []
  const api = streamId(event.stream)
  const change = { resourceId: id, event, timestamp: at }
  const doc =
    collection === apiPeriods
      ? historyDocument(
          {
            ...change,
            resourceType: 'API',
            history: api,
            before: before && snapshotOf(before as ApiDocument),
            after: after && snapshotOf(after as ApiDocument),
            revision: (after as ApiDocument | null)?.recordRevision ?? null,
          },
          OPERATIONS,
        )
      : historyDocument(
          {
            ...change,
            resourceType: 'API_VERSION',
            history: versionHistory(api, id),
            before: before && versionWithDocuments(before as VersionDocument),
            after: after && versionWithDocuments(after as VersionDocument),
            revision: (after as VersionDocument | null)?.versionRevision ?? null,
          },
          OPERATIONS,
        )
  if (!doc) return []
  const inApi = placeIn(api, doc.timestamp, event.revision)
  return [
    {
      collection: apiHistory,
      id: doc.id,
      doc: { ...doc, inApi } as ApiHistoryDocument,
      revision: event.revision,
    },
  ]
}
