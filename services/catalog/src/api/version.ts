import type { AttachedDocument, VersionRecord } from '@gantry/contracts'
import type { PersistentMap } from '@gantry/event-sourcing'

export type VersionEvent =
  | { type: 'VersionCreated'; data: VersionRecord }
  | { type: 'VersionUpdated'; data: VersionRecord }
  | { type: 'VersionDeleted'; data: { id: string; deletedAt: string } }

/** Changes of the documents of a version, which media has. */
export type DocumentEvent =
  | {
      type: 'DocumentAttached'
      data: AttachedDocument & { id: string; documentRevision: number; attachedAt: string }
    }
  | {
      type: 'DocumentDetached'
      data: { id: string; name: string; documentRevision: number; detachedAt: string }
    }

/** A document of a version, or null after its deletion, by the latest event of media about it. */
interface Attachment {
  name: string
  document: AttachedDocument | null
  /** Revision of this event of media. */
  revision: number
}

export interface Version {
  record: VersionRecord
  /** Revision of the event that changed the version last. Its ETag. */
  revision: number
  /** The oldest first. Absent if it never had one. */
  attachments?: readonly Attachment[]
}

/** The documents of a version, the oldest first; one of them is primary. */
export function documentsOf({ attachments = [] }: Version): AttachedDocument[] {
  const present = attachments.filter(({ document }) => document !== null)
  // Events of media may come in another order: the latest one that makes a document primary counts.
  const primaries = present.filter(({ document }) => document?.primary)
  const primary = primaries.toSorted((a, b) => b.revision - a.revision)[0] ?? present[0]
  return present.flatMap(({ name, document }) =>
    document ? [{ ...document, primary: name === primary?.name }] : [],
  )
}

/** The versions of an API. */
export interface Versions {
  /** Versions by id. A persistent map, because copying thousands of versions for each event is too slow. */
  versions: PersistentMap<Version>
  /** Ids of the versions by name. */
  versionIds: PersistentMap<string>
}

export function evolveVersions(
  { versions, versionIds }: Versions,
  { type, data }: VersionEvent,
  revision: number,
): Versions {
  const { id } = data
  const name = versions.get(id)?.record.name
  const others = name !== undefined && versionIds.get(name) === id ? versionIds.delete(name) : versionIds
  if (type === 'VersionDeleted') return { versions: versions.delete(id), versionIds: others }
  const version = { ...versions.get(id), record: data, revision }
  return { versions: versions.set(id, version), versionIds: others.set(data.name, id) }
}

export function evolveAttachments(
  versions: Versions['versions'],
  { type, data }: DocumentEvent,
): Versions['versions'] {
  const version = versions.get(data.id)
  if (!version) return versions
  const { name, documentRevision: revision } = data
  const known = version.attachments ?? []
  const others = known.filter(one => one.name !== name)
  if (type === 'DocumentDetached')
    return versions.set(data.id, { ...version, attachments: [...others, { name, document: null, revision }] })
  const { kind, primary, counts } = data
  const attachment = { name, document: { name, kind, primary, counts }, revision }
  const isKnown = known.some(one => one.name === name && one.document)
  const attachments = isKnown
    ? known.map(one => (one.name === name ? attachment : one))
    : [...others, attachment]
  return versions.set(data.id, { ...version, attachments })
}
