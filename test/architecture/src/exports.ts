import type { ProjectFile } from './project-files.ts'
import { isSource, withoutComments } from './source.ts'

/** Vitest requires a default export of its settings. */
const isForTool = (path: string) => /(^|\/)vitest(\.[\w-]+)?\.config\.ts$/.test(path)

/** Exports have names, so that each has the same name everywhere. */
export function defaultExports(file: ProjectFile): string[] {
  if (!isSource(file) || isForTool(file.path)) return []
  const found = /(^|\n)\s*export\s+(default\b|\{[^}]*\bdefault\b[^}]*\})/.test(withoutComments(file.text))
  return found ? [`${file.path} has a default export`] : []
}

/** An index file lists the exports of its package, and does nothing else. */
export function busyIndexes(file: ProjectFile): string[] {
  if (!/(^|\/)index\.ts$/.test(file.path)) return []
  const rest = withoutComments(file.text).replace(
    /export\s+(type\s+)?\{[\w$\s,]*\}\s*(from\s*'\.{1,2}\/[\w./-]+\.ts')?;?/g,
    '',
  )
  return rest.trim() ? [`${file.path} does more than enumerate: ${rest.trim().split('\n')[0]}`] : []
}

/** The names that a file exports. */
export function exportedNames({ text }: ProjectFile): string[] {
  const code = withoutComments(text)
  const declared = code.matchAll(
    /(?:^|\n)\s*export\s+(?:declare\s+|abstract\s+|async\s+)*(?:const|let|var|function\*?|class|interface|type|enum)\s+([\w$]+)/g,
  )
  const listed = [...code.matchAll(/(?:^|\n)\s*export\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(
    ([, names = '']) =>
      names
        .split(',')
        .map(name => name.trim().split(/\s+/).at(-1) ?? '')
        .filter(Boolean),
  )
  return [...declared].map(([, name = '']) => name).concat(listed)
}
