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

export const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
