import type { ProjectFile } from './project-files.ts'
import { isSource, isTest, withoutComments } from './source.ts'

/** Where a process begins: these read the environment once and hand on what they read. */
const ROOTS = /\/(main|config|settings)\.ts$|^bin\/|(^|\/)vitest(\.\w+)?\.config\.ts$/
/** Commands beside the services. */
const COMMANDS = new Set([
  'deploy/compose/secrets.mjs',
  'packages/demo/src/receiver.ts',
  'services/standalone/src/quarantine.ts',
  'services/standalone/src/rebuild.ts',
  'services/standalone/src/rotate-keys.ts',
])

/** The environment is read where a process begins, and nowhere else. */
export function environmentReaders(file: ProjectFile): string[] {
  if (!isSource(file) || isTest(file) || ROOTS.test(file.path) || COMMANDS.has(file.path)) return []
  const reads =
    /\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^;\n]*\bfrom\s*'(node:)?process'|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/
  return reads.test(withoutComments(file.text)) ? [`${file.path} reads the environment`] : []
}
