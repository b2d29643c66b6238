import type { DatabaseSync } from 'node:sqlite'
import type { StoredSnapshot } from '@gantry/event-sourcing'

export const SNAPSHOTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS snapshots (
    stream TEXT PRIMARY KEY,
    schema_version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT`

interface Row extends Omit<StoredSnapshot, 'position'> {
  position: number
}

/** The snapshots of streams, at most one each, in the file of their events. */
export function snapshotTable(db: DatabaseSync) {
  // Inserts nothing if the event at that revision does not exist: the stream may have been removed since its state was
  // folded.
  const put = db.prepare(
    `INSERT OR REPLACE INTO snapshots (stream, revision, position, schema_version, state)
     SELECT stream, revision, position, ?, ? FROM events WHERE stream = ? AND revision = ? AND position = ?`,
  )
  const get = db.prepare('SELECT schema_version, revision, position, state FROM snapshots WHERE stream = ?')
  const erase = db.prepare('DELETE FROM snapshots WHERE stream = ?')
  return {
    save(stream: string, { schemaVersion, revision, position, state }: Row) {
      put.run(schemaVersion, state, stream, revision, position)
    },
    read(stream: string): Row | undefined {
      const row = get.get(stream)
      if (!row) return undefined
      return {
        schemaVersion: Number(row.schema_version),
        revision: Number(row.revision),
        position: Number(row.position),
        state: String(row.state),
      }
    },
    erase(stream: string) {
      erase.run(stream)
    },
  }
}
