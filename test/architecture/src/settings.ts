import type { ProjectFile } from './project-files.ts'
import { withoutComments } from './source.ts'

/** Files with schemas of settings, and programs that read a few settings without a schema. */
const DECLARING = /^((packages|services)\/[\w-]+|test\/cluster)\/src\/settings\.ts$/
const READING = /^((packages|services)\/[\w-]+|test\/demo)\/src\/(main|receiver)\.ts$/

const namesOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name)

/** Names of the settings that programs of the project read, sorted and unique. */
export function settingsRead(project: readonly ProjectFile[]): string[] {
  const names = project.flatMap(({ path, text }) => {
    const code = withoutComments(text)
    if (DECLARING.test(path)) return namesOf(code, /^ {2}([A-Z][A-Z0-9_]*):/gm)
    if (!READING.test(path)) return []
    return namesOf(code, /\{([^{}]*)\} = process\.env/g).flatMap(list => namesOf(list, /([A-Z][A-Z0-9_]*)/g))
  })
  return [...new Set(names)].toSorted()
}

/** Names in the list of all settings, sorted. */
export function settingsListed(project: readonly ProjectFile[]): string[] {
  const list = project.find(({ path }) => path === 'packages/service-kit/src/setting-names.ts')
  const [names = ''] = /SETTING_NAMES[^=]*= \[[^\]]*\]/.exec(list?.text ?? '') ?? []
  return namesOf(names, /'([A-Z][A-Z0-9_]*)'/g).toSorted()
}
