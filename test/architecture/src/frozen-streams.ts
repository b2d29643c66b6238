import type { ProjectFile } from './project-files.ts'
import { isSource, isTest, withoutComments, workspaceOf } from './source.ts'

const found = ({ text }: ProjectFile, pattern: RegExp) =>
  [...withoutComments(text).matchAll(pattern)].map(([, category = '']) => category)
const folded = (file: ProjectFile) => found(file, /\bcategory: '(\w+)'/g)
const tested = (file: ProjectFile) => found(file, /\btestFrozenStreams\(\{[^}]*\bcategory: '(\w+)'/g)

/** Every category that a service folds has a test with frozen streams. */
export function unfrozenCategories(files: readonly ProjectFile[]): string[] {
  const frozen = new Set(
    files
      .filter(isTest)
      .flatMap(file => tested(file).map(category => `${workspaceOf(file.path)} ${category}`)),
  )
  return files
    .filter(file => file.path.startsWith('services/') && isSource(file) && !isTest(file))
    .flatMap(file => folded(file).map(category => ({ workspace: workspaceOf(file.path), category })))
    .filter(({ workspace, category }) => !frozen.has(`${workspace} ${category}`))
    .map(({ workspace, category }) => `${workspace} folds ${category}, which has no frozen streams`)
}
