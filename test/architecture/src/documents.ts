import type { ProjectFile } from './project-files.ts'

const PATH = /`((?:packages|services|test|deploy|bin|docs)\/[\w./-]+?)`/g

/** Files and folders that documents name in backticks and that do not exist, as "document: path". */
export function missingFiles(project: readonly ProjectFile[], documents: readonly ProjectFile[]): string[] {
  const paths = new Set(project.flatMap(({ path }) => withFolders(path)))
  return documents.flatMap(({ path, text }) =>
    [...text.matchAll(PATH)]
      .map(([, named = '']) => named)
      .filter(named => !paths.has(named))
      .map(named => `${path}: ${named}`),
  )
}

const withFolders = (path: string): string[] =>
  path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
