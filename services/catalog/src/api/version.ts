import type { VersionRecord } from '@gantry/contracts'
import type { PersistentMap } from '@gantry/event-sourcing'

export type VersionEvent =
  | { type: 'VersionCreated'; data: VersionRecord }
  | { type: 'VersionUpdated'; data: VersionRecord }
  | { type: 'VersionDeleted'; data: { id: string; deletedAt: string } }

export interface Version {
  record: VersionRecord
  /** Revision of the event that changed the version last. Its ETag. */
  revision: number
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
  return { versions: versions.set(id, { record: data, revision }), versionIds: others.set(data.name, id) }
}
