import { type AttachedDocument, MAX_VERSIONS_BEFORE, type VersionRecord } from '@gantry/contracts'
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
  /** The oldest first, and the latest deletions. Absent if it never had one. */
  attachments?: readonly Attachment[]
  /** Revision of the latest event of media that made a document primary, even of a document that is deleted now. */
  primaryRevision?: number
}

/** Maximum number of deletions that are kept to recognize earlier events of media that come later. */
const KEPT_DELETIONS = 20

/** The documents of a version, the oldest first; one of them is primary: the one made so last, else the oldest. */
export function documentsOf({ attachments = [], primaryRevision }: Version): AttachedDocument[] {
  const present = attachments.filter(({ document }) => document !== null)
  const primary = present.find(({ revision }) => revision === primaryRevision) ?? present[0]
  return present.flatMap(({ name, document }) =>
    document ? [{ ...document, primary: name === primary?.name }] : [],
  )
}

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

/** The latest versions that were created before another one, the last one first. */
export function versionsBefore({ versions }: Pick<Versions, 'versions'>, id: string): string[] {
  const orderOf = ({ createdAt, id }: VersionRecord) => `${createdAt} ${id}`
  const version = versions.get(id)
  if (!version) return []
  const order = orderOf(version.record)
  return [...versions.values()]
    .map(({ record }) => ({ id: record.id, order: orderOf(record) }))
    .filter(one => one.order < order)
    .sort((one, other) => (one.order < other.order ? 1 : -1))
    .slice(0, MAX_VERSIONS_BEFORE)
    .map(({ id }) => id)
}

export function evolveAttachments(
  versions: Versions['versions'],
  { type, data }: DocumentEvent,
): Versions['versions'] {
  const version = versions.get(data.id)
  if (!version) return versions
  const { name, documentRevision: revision } = data
  const known = version.attachments ?? []
  if (type === 'DocumentDetached') {
    const others = known.filter(one => one.name !== name)
    const present = others.filter(({ document }) => document !== null)
    const deletions = [
      ...others.filter(({ document }) => document === null),
      { name, document: null, revision },
    ]
    return versions.set(data.id, {
      ...version,
      attachments: [...present, ...deletions.slice(-KEPT_DELETIONS)],
    })
  }
  const { kind, primary, counts } = data
  const attachment = { name, document: { name, kind, primary, counts }, revision }
  const isKnown = known.some(one => one.name === name && one.document)
  const attachments = isKnown
    ? known.map(one => (one.name === name ? attachment : one))
    : [...known.filter(one => one.name !== name), attachment]
  const { primaryRevision = -1 } = version
  return versions.set(data.id, {
    ...version,
    attachments,
    ...(primary && { primaryRevision: Math.max(primaryRevision, revision) }),
  })
}
