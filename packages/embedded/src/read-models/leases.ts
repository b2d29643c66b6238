import type { DatabaseSync } from 'node:sqlite'
import { type Lease, LeaseLost } from '@gantry/stores'

export const LEASES_SCHEMA = `
  CREATE TABLE IF NOT EXISTS leases (
    name TEXT PRIMARY KEY,
    holder TEXT,
    token INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ttl_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`

/**
 * Leases in the file. All processes of the host compare their times with the same clock. An expiry that is further away
 * than the duration of the lease shows that the clock was set back since, and counts as past.
 */
export function leaseTable(db: DatabaseSync, now: () => number) {
  // A released lease has no holder, so that the next one to acquire it gets a new token.
  const acquire = db.prepare(
    `INSERT INTO leases (name, holder, token, expires_at, ttl_ms) VALUES (:name, :holder, 1, :now + :ttlMs, :ttlMs)
     ON CONFLICT (name) DO UPDATE SET
       token = token + (holder IS NOT excluded.holder), holder = excluded.holder, expires_at = excluded.expires_at,
       ttl_ms = excluded.ttl_ms
     WHERE holder IS NULL OR holder = excluded.holder OR expires_at NOT BETWEEN :now + 1 AND :now + ttl_ms
     RETURNING token`,
  )
  const release = db.prepare(
    'UPDATE leases SET holder = NULL WHERE name = :name AND holder = :holder AND token = :token',
  )
  const tokenOf = db.prepare('SELECT token FROM leases WHERE name = ?')
  return {
    acquire(name: string, holder: string, ttlMs: number): Lease | undefined {
      const given = acquire.get({ name, holder, ttlMs, now: now() })
      return given && { name, holder, token: given.token as number }
    },
    release({ name, holder, token }: Lease) {
      release.run({ name, holder, token })
    },
    /** @throws LeaseLost when the lease was given to another holder since */
    require({ name, token }: Lease) {
      if (tokenOf.get(name)?.token !== token) throw new LeaseLost(name)
    },
  }
}
