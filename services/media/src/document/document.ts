import type { DocumentRecord } from '@gantry/contracts'
import { type Actor, type EventSchemas, PersistentMap } from '@gantry/event-sourcing'

/** What a check found in a document, and how it is stored. */
export type DocumentContent = Omit<DocumentRecord, 'primary' | 'createdAt' | 'updatedAt' | 'updatedBy'>

export type DocumentEvent =
  | {
      type: 'DocumentUploaded'
      data: DocumentContent & {
        api: string
        apiVersion: string
        primary: boolean
        uploadedAt: string
        /** Whether it breaks clients of the version before. Absent if that is not known. */
        breaking?: boolean
      }
    }
  | { type: 'DocumentDeleted'; data: { api: string; apiVersion: string; name: string; deletedAt: string } }
  /** The version was deleted, with these documents or none. No event of the version follows. */
  | { type: 'VersionDocumentsDiscarded'; data: { apiVersion: string; names: string[] } }
  /** The API was deleted, with or without documents. No event follows. */
  | { type: 'DocumentsDiscarded'; data: object }

/** The documents of a version, the oldest first; null once the version is deleted. */
type VersionDocuments = readonly DocumentRecord[] | null

/** The documents of the versions of an API, by the ids of the versions. The stream is named by the id of the API. */
export interface DocumentsState {
  status: 'Live' | 'Discarded'
  /** After the deletion of the API they are the last ones. */
  versions: PersistentMap<VersionDocuments>
  /** Revisions of the last uploads of the documents, by `idOf`. */
  uploads: PersistentMap<number>
}

export const idOf = (version: string, name: string) => `${version}/${name}`

/** Every event type that this release knows, with its upcasters. */
export const documentEvents: EventSchemas<DocumentEvent> = {
  DocumentUploaded: [],
  DocumentDeleted: [],
  VersionDocumentsDiscarded: [],
  DocumentsDiscarded: [],
}

export const initialDocuments: DocumentsState = {
  status: 'Live',
  versions: PersistentMap.of(),
  uploads: PersistentMap.of(),
}

export const documentsOf = ({ versions }: DocumentsState, version: string): readonly DocumentRecord[] =>
  versions.get(version) ?? []

export const documentIn = (state: DocumentsState, version: string, name: string) =>
  documentsOf(state, version).find(document => document.name === name)

export function evolveDocuments(
  state: DocumentsState,
  event: DocumentEvent,
  revision: number,
  actor: Actor,
): DocumentsState {
  const { versions, uploads } = state
  switch (event.type) {
    case 'DocumentUploaded': {
      const { api, apiVersion, uploadedAt, breaking: _, ...content } = event.data
      const known = documentsOf(state, apiVersion)
      const before = known.find(({ name }) => name === content.name)
      const document: DocumentRecord = {
        ...content,
        createdAt: before?.createdAt ?? uploadedAt,
        updatedAt: uploadedAt,
        updatedBy: actor.id,
      }
      const next = before ? known.map(one => (one === before ? document : one)) : [...known, document]
      const others = (one: DocumentRecord) =>
        document.primary && one !== document && one.primary ? { ...one, primary: false } : one
      return {
        ...state,
        versions: versions.set(apiVersion, next.map(others)),
        uploads: uploads.set(idOf(apiVersion, content.name), revision),
      }
    }
    case 'DocumentDeleted': {
      const { apiVersion, name } = event.data
      const [oldest, ...rest] = documentsOf(state, apiVersion).filter(document => document.name !== name)
      const primary = oldest?.primary || !rest.some(document => document.primary)
      return {
        ...state,
        versions: versions.set(apiVersion, oldest ? [{ ...oldest, primary }, ...rest] : []),
        uploads: uploads.delete(idOf(apiVersion, name)),
      }
    }
    case 'VersionDocumentsDiscarded': {
      const { apiVersion, names } = event.data
      const others = names.reduce((left, name) => left.delete(idOf(apiVersion, name)), uploads)
      return { ...state, versions: versions.set(apiVersion, null), uploads: others }
    }
    case 'DocumentsDiscarded':
      return { ...state, status: 'Discarded' }
    default:
      event satisfies never
      return state
  }
}
