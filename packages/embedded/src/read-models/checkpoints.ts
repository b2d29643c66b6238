import type { DatabaseSync } from 'node:sqlite'

export const CHECKPOINTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS checkpoints (
    name TEXT PRIMARY KEY,
    position TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`

export function checkpointTable(db: DatabaseSync) {
  const get = db.prepare('SELECT position FROM checkpoints WHERE name = ?')
  const save = db.prepare('INSERT OR REPLACE INTO checkpoints (name, position) VALUES (?, ?)')
  const clear = db.prepare('DELETE FROM checkpoints WHERE name = ?')
  return {
    get: (name: string) => get.get(name)?.position as string | undefined,
    save: (name: string, position: string) => void save.run(name, position),
    clear: (name: string) => void clear.run(name),
  }
}
