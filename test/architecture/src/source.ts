import { posix } from 'node:path'
import type { ProjectFile } from './project-files.ts'

export const isSource = ({ path }: ProjectFile) => /\.(m?ts|m?js)$/.test(path)

/** Tests, and files that only tests use. */
export const isTest = ({ path }: ProjectFile) =>
  /\.test\.ts$|\/testing\/|(^|\/)vitest(\.[\w-]+)?\.config\.ts$/.test(path) || path.startsWith('test/')

/** The workspace of a file, e.g. services/media; for other files the first folder. */
export const workspaceOf = (path: string) =>
  path
    .split('/')
    .slice(0, /^(packages|services|test)\//.test(path) ? 2 : 1)
    .join('/')

const IMPORTS = [
  /(?:^|\n|;)\s*(?:import|export)\s[\w$\s{},*]*?from\s*['"]([^'"\n]+)['"]/g,
  /(?:^|\n|;)\s*import\s*['"]([^'"\n]+)['"]/g,
  /\b(?:import|require|import\.meta\.resolve|getBuiltinModule)\(\s*['"`]([^'"`\n]+)['"`]/g,
]

/** The specifiers that a file imports, types included. */
export const importsOf = ({ text }: ProjectFile): string[] =>
  IMPORTS.flatMap(pattern => [...text.matchAll(pattern)].map(([, specifier = '']) => specifier))

/** The package of an import, e.g. @gantry/service-kit for @gantry/service-kit/testing; undefined for a file. */
export const packageOf = (specifier: string): string | undefined =>
  specifier.startsWith('.')
    ? undefined
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')

/** The file of a relative import; undefined for a package. */
export const fileOf = ({ path }: ProjectFile, specifier: string): string | undefined =>
  specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined

export const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
