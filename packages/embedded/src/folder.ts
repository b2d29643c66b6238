import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder, and those above it, unless it exists. The `recursive` of Node 24 never returns for a folder that the
 * operating system does not let exist, e.g. in /proc.
 * @param mode permissions of new folders, before the umask
 * @throws Error of the file system
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (!existsSync(dirname(path))) makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
