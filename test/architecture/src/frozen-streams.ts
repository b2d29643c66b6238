import type { ProjectFile } from './project-files.ts'
import { isSource, isTest, withoutComments, workspaceOf } from './source.ts'

const categories = ({ text }: ProjectFile) =>
  [...withoutComments(text).matchAll(/\bcategory: '(\w+)'/g)].map(([, category = '']) => category)

/** Every category that a service folds has a test with streams of older commits. */
export function unfrozenCategories(files: readonly ProjectFile[]): string[] {
  const frozen = new Set(
    files
      .filter(({ path }) => path.endsWith('/frozen-streams.test.ts'))
      .flatMap(file => categories(file).map(category => `${workspaceOf(file.path)} ${category}`)),
  )
  return files
    .filter(file => file.path.startsWith('services/') && isSource(file) && !isTest(file))
    .flatMap(file => categories(file).map(category => ({ workspace: workspaceOf(file.path), category })))
    .filter(({ workspace, category }) => !frozen.has(`${workspace} ${category}`))
    .map(({ workspace, category }) => `${workspace} folds ${category}, which has no frozen streams`)
}
