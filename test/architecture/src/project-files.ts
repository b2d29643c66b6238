import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface ProjectFile {
  /** Path from the project folder, with slashes. */
  path: string
  text: string
}

const ROOT = resolve(import.meta.dirname, '../../..')
/** Names from .gitignore, and .git. */
const NOT_OURS = new Set(['.git', 'node_modules', 'data', '.turbo', '.cache', 'coverage'])

/** Every text file of the project: the files in git, or all files without git. Symbolic links lead to files of the list. */
export function projectFiles(): ProjectFile[] {
  return projectPaths().flatMap(path => {
    if (!lstatSync(join(ROOT, path)).isFile()) return []
    const text = readFileSync(join(ROOT, path), 'utf8')
    return text.includes('\0') ? [] : [{ path, text }]
  })
}

/** The paths of all files of the project, with slashes: those in git, or all without git. */
export function projectPaths(): string[] {
  try {
    const gone = new Set(git('--deleted'))
    return git('--cached').filter(path => !gone.has(path))
  } catch {
    return found('')
  }
}

const git = (...which: string[]) =>
  execFileSync('git', ['ls-files', '-z', ...which], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .split('\0')
    .filter(Boolean)

const found = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap(entry => {
    if (NOT_OURS.has(entry.name)) return []
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (entry.isDirectory()) return found(path)
    return entry.isFile() && !entry.name.endsWith('.log') ? [path] : []
  })
