import { globSync } from 'node:fs'
import { sep } from 'node:path'

/** Folders with source files. */
export const FOLDERS = ['bin', 'packages', 'services', 'test']

/** Paths of all source files from the folder of a project, with slashes. */
export const sourceFiles = (root: string): string[] =>
  FOLDERS.flatMap(folder =>
    globSync(`${folder}/**/*.{ts,tsx,mjs}`, {
      cwd: root,
      exclude: path => /(^|[\\/])(node_modules|\.cache)([\\/]|$)/.test(path),
    }),
  ).map(path => path.split(sep).join('/'))
