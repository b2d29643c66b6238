import { exportedNames } from './exports.ts'
import type { ProjectFile } from './project-files.ts'
import { isSource } from './source.ts'

/** Words that say nothing of what a thing is. */
const EMPTY = new Set(
  'manager managers helper helpers util utils utility utilities impl common shared core'.split(' '),
)

/** The words of a name in any case: fileBlobStore, file-blob-store, FILE_BLOB_STORE. */
const words = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
const isEmpty = (name: string) => words(name).some(word => EMPTY.has(word))

/** Files, folders and exports are called by what they are. */
export function emptyNames(file: ProjectFile): string[] {
  if (!isSource(file)) return []
  const named = file.path.split('/').filter(isEmpty)
  const exported = exportedNames(file).filter(isEmpty)
  return [
    ...named.map(name => `${file.path} is named ${name}`),
    ...exported.map(name => `${file.path} exports ${name}`),
  ]
}
