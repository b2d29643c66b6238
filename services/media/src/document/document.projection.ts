import type { DocumentRecord } from '@gantry/contracts'
import { type Period, type Project, periodFields, validity } from '@gantry/event-sourcing'
import { type CollectionDefinition, defineCollection, type Write } from '@gantry/stores'
import { type DocumentEvent, type DocumentsState, documentIn, documentsOf, idOf } from './document.ts'

/** A document of a version. Its id is `idOf`. */
export interface DocumentDocument extends DocumentRecord {
  id: string
  api: string
  apiVersion: string
}

export const documents = defineCollection<DocumentDocument>({
  name: 'media.documents',
  version: 1,
  fields: {
    api: 'string',
    apiVersion: 'string',
    name: 'string',
    kind: 'string',
    size: 'number',
    createdAt: 'string',
    updatedAt: 'string',
  },
})

/** Documents as they were at earlier times. */
export const documentPeriods = defineCollection<DocumentDocument & Period>({
  name: 'media.document-periods',
  version: 1,
  fields: { ...periodFields, ...documents.fields },
  validity,
})

/** The documents of the versions that the events changed: a change of one can make another one primary. */
const projectInto =
  // biome-ignore lint/suspicious/noExplicitAny: the collection of documents, or that of their periods
    (collection: CollectionDefinition<any>): Project<DocumentsState, DocumentEvent> =>
    (api, { state, revision }, events) => {
      const changed = new Map<string, Set<string>>()
      const note = (version: string, names: Iterable<string>) =>
        changed.set(version, new Set([...(changed.get(version) ?? []), ...names]))
      for (const { type, data } of events) {
        if (type === 'DocumentsDiscarded') for (const version of state.versions.keys()) note(version, [])
        else note(data.apiVersion, type === 'VersionDocumentsDiscarded' ? data.names : [data.name])
      }
      return [...changed].flatMap(([version, names]) => {
        const all = new Set([...names, ...documentsOf(state, version).map(({ name }) => name)])
        return [...all].map((name): Write => {
          const known = state.status === 'Live' ? documentIn(state, version, name) : undefined
          const id = idOf(version, name)
          const doc = known ? { id, api, apiVersion: version, ...known } : null
          return { collection, id, doc, revision }
        })
      })
    }

export const projectDocuments = projectInto(documents)
export const projectDocumentPeriods = projectInto(documentPeriods)

export const recordOf = ({ id, api, apiVersion, ...record }: DocumentDocument): DocumentRecord => record
