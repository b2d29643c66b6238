import { type Change, type DocumentRecord, Refusal } from '@gantry/contracts'
import type { Aggregate, CommandMetadata, Decider } from '@gantry/event-sourcing'
import {
  type DocumentContent,
  type DocumentEvent,
  type DocumentsState,
  documentEvents,
  documentIn,
  documentsOf,
  evolveDocuments,
  initialDocuments,
} from './document.ts'

/** Conditions on the document that a command changes. */
export interface Precondition {
  /** The document must exist with one of these SHA-256; with any if it is `*`. */
  ifMatch?: readonly string[] | '*' | undefined
  /** The document must not exist. */
  ifAbsent?: boolean | undefined
}

interface UploadDocument {
  type: 'UploadDocument'
  metadata: CommandMetadata
  api: string
  version: string
  content: DocumentContent
  /** Whether it becomes the primary one. */
  primary: boolean
  condition: Precondition
  /** Maximum number of documents of a version. */
  limit: number
  /** Whether it breaks clients of the version before, if that is known. */
  breaking?: boolean | undefined
}

export type DocumentCommand =
  | UploadDocument
  | {
      type: 'DeleteDocument'
      metadata: CommandMetadata
      api: string
      version: string
      name: string
      condition: Precondition
    }
  | { type: 'DiscardVersion'; metadata: CommandMetadata; version: string }
  | { type: 'DiscardDocuments'; metadata: CommandMetadata }

export type DocumentsAggregate = Aggregate<DocumentsState, DocumentCommand, DocumentEvent>

export const documentDecider: Decider<DocumentsState, DocumentCommand, DocumentEvent> = {
  initial: initialDocuments,
  events: documentEvents,
  evolve: evolveDocuments,
  describe,
  size: ({ versions }) => 1 + versions.size,
  decide(state, command) {
    const { now } = command.metadata
    if (command.type === 'DiscardDocuments')
      return state.status === 'Discarded' ? [] : [{ type: 'DocumentsDiscarded', data: {} }]
    if (command.type === 'DiscardVersion') {
      const { version: apiVersion } = command
      if (state.status === 'Discarded' || state.versions.get(apiVersion) === null) return []
      const names = documentsOf(state, apiVersion).map(({ name }) => name)
      return [{ type: 'VersionDocumentsDiscarded', data: { apiVersion, names } }]
    }
    const { version: apiVersion } = command
    if (command.type === 'DeleteDocument') {
      const { api, name, condition } = command
      requireVersion(state, apiVersion)
      const document = documentIn(state, apiVersion, name)
      if (!document) throw new Refusal('document-not-found')
      requireCondition(condition, document)
      return [{ type: 'DocumentDeleted', data: { api, apiVersion, name, deletedAt: now } }]
    }
    const { api, content, breaking } = command
    const before = requirePlace(state, { ...command, name: content.name })
    const primary = command.primary || (before?.primary ?? documentsOf(state, apiVersion).length === 0)
    if (before && isSame(before, content) && before.primary === primary) return []
    const data = { api, apiVersion, ...content, primary, uploadedAt: now }
    return [{ type: 'DocumentUploaded', data: { ...data, ...(breaking !== undefined && { breaking }) } }]
  },
}

/** Where a document is to be stored. */
export interface Place extends Pick<UploadDocument, 'version' | 'condition' | 'limit'> {
  name: string
}

/**
 * The document that an upload replaces.
 * @throws Refusal api-not-found, version-not-found, precondition-failed, too-many-documents
 */
export function requirePlace(
  state: DocumentsState,
  { version, name, condition, limit }: Place,
): DocumentRecord | undefined {
  requireVersion(state, version)
  const before = documentIn(state, version, name)
  requireCondition(condition, before)
  if (!before && documentsOf(state, version).length >= limit) {
    const detail = `a version may have ${limit} documents (MAX_DOCUMENTS_PER_VERSION)`
    throw new Refusal('too-many-documents', { detail, limit })
  }
  return before
}

/** @throws Refusal api-not-found, version-not-found */
function requireVersion({ status, versions }: DocumentsState, version: string): void {
  if (status === 'Discarded') throw new Refusal('api-not-found')
  if (versions.get(version) === null) throw new Refusal('version-not-found')
}

const isSame = (before: DocumentRecord, { sha256, kind, mediaType }: DocumentContent) =>
  before.sha256 === sha256 && before.kind === kind && before.mediaType === mediaType

/** @throws Refusal precondition-failed */
function requireCondition({ ifMatch, ifAbsent }: Precondition, document: DocumentRecord | undefined): void {
  const matches =
    ifMatch === undefined || (document && (ifMatch === '*' || ifMatch.includes(document.sha256)))
  if (!matches || (ifAbsent && document)) throw new Refusal('precondition-failed')
}

/** Documents that are removed with their version or API have no change of their own: that deletion implies it. */
function describe(before: DocumentsState, event: DocumentEvent, after: DocumentsState): Change | null {
  if (event.type !== 'DocumentUploaded' && event.type !== 'DocumentDeleted') return null
  const { api, apiVersion, name } = event.data
  const of = (state: DocumentsState) => {
    const document = documentIn(state, apiVersion, name)
    return document ? { ...document, api, apiVersion } : null
  }
  return {
    action:
      event.type === 'DocumentUploaded' ? 'API_VERSION_DOCUMENT_UPDATED' : 'API_VERSION_DOCUMENT_DELETED',
    resourceType: 'API_VERSION_DOCUMENT',
    resourceId: `${apiVersion}/${name}`,
    before: of(before),
    after: of(after),
  }
}
