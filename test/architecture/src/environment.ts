import type { ProjectFile } from './project-files.ts'
import { isSource, isTest, withoutComments } from './source.ts'

/** Entry points of processes and their settings. They read the environment once and pass the values on. */
const ROOTS = /\/(main|config|settings)\.ts$|^bin\/|(^|\/)vitest(\.\w+)?\.config\.ts$/
/** Commands outside of the services. */
const COMMANDS = /^deploy\/compose\/secrets\.mjs$|^docs\/samples\//

/** Only entry points read the environment. */
export function environmentReaders(file: ProjectFile): string[] {
  if (!isSource(file) || isTest(file) || ROOTS.test(file.path) || COMMANDS.test(file.path)) return []
  const reads =
    /(?<!')\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^;\n]*\bfrom\s*'(node:)?process'|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/
  return reads.test(withoutComments(file.text)) ? [`${file.path} reads the environment`] : []
}
