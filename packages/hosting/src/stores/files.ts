import { type Disk, watchDisk } from '@gantry/embedded'
import type { Log } from '@gantry/event-sourcing'

/** The version of the library that reads the files of embedded stores. */
export const SQLITE = { kind: 'SQLite', version: process.versions.sqlite ?? null }

/** The path of a sqlite: URL; undefined for other schemes. */
export const fileOf = (url: string) => (url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined)

/** Watches the disks of embedded stores, and logs when one is full and when it has space again. */
export const watchedDisk = (log: Log): Disk =>
  watchDisk({ report: (line, state) => log[state === 'full' ? 'error' : 'info']({}, line) })
