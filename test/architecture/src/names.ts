import { exportedNames } from './exports.ts'
import type { ProjectFile } from './project-files.ts'
import { isSource } from './source.ts'

/** Words without information about what they name. */
const EMPTY = new Set(
  'manager managers helper helpers util utils utility utilities impl common shared core'.split(' '),
)

/** The words of a name in any case style: fileBlobStore, file-blob-store, FILE_BLOB_STORE. */
const words = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
const isEmpty = (name: string) => words(name).some(word => EMPTY.has(word))

/** Names of files, folders and exports contain no empty words. */
export function emptyNames(file: ProjectFile): string[] {
  if (!isSource(file)) return []
  const named = file.path.split('/').filter(isEmpty)
  const exported = exportedNames(file).filter(isEmpty)
  return [
    ...named.map(name => `${file.path} is named ${name}`),
    ...exported.map(name => `${file.path} exports ${name}`),
  ]
}

/** Characters, ends and names of devices that Windows refuses in a part of a path. */
const REFUSED_BY_WINDOWS = /[<>:"|?*\\]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** Whether a path with slashes cannot be checked out on Windows. */
export const isRefusedByWindows = (path: string): boolean =>
  path.split('/').some(name => REFUSED_BY_WINDOWS.test(name))
