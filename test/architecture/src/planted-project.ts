import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

/** The folder of this project. */
export const ROOT = resolve(import.meta.dirname, '../../..')
/** The folders of workspaces, as in package.json. */
export const WORKSPACES = ['packages/*', 'services/*', 'test/*']

/**
 * Creates a project of the given files in a temporary folder. `node_modules` has a link to every workspace.
 * @param files texts by path. Each folder in packages/, services/ and test/ becomes a workspace without dependencies, unless
 *   its package.json is given
 * @param options.vendors names of packages to create in `node_modules`
 * @param options.settings files of this project to copy, for example the settings of a tool
 * @returns the folder
 */
export function plant(
  files: Readonly<Record<string, string>>,
  { vendors = [], settings = [] }: { vendors?: readonly string[]; settings?: readonly string[] } = {},
): string {
  const root = mkdtempSync(join(tmpdir(), 'gantry-planted-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const folder of ['bin', 'packages', 'services', 'test', 'node_modules/@gantry'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const path of settings) cpSync(join(ROOT, path), join(root, path))
  const paths = Object.keys(files)
  for (const workspace of new Set(
    paths.flatMap(path => /^(packages|services|test)\/[^/]+/.exec(path)?.[0] ?? []),
  )) {
    const name = `@gantry/${workspace.split('/')[1]}`
    write(`${workspace}/package.json`, manifest(name))
    symlinkSync(join(root, workspace), join(root, 'node_modules', name), 'junction')
  }
  write('package.json', JSON.stringify({ workspaces: WORKSPACES }))
  for (const vendor of vendors) {
    write(`node_modules/${vendor}/package.json`, JSON.stringify({ name: vendor, main: 'index.js' }))
    write(`node_modules/${vendor}/index.js`, '')
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return root
}

/** The package.json of a workspace. */
export const manifest = (name: string, more: object = {}) =>
  JSON.stringify({
    name,
    type: 'module',
    exports: { '.': './src/index.ts', './testing': './src/testing/index.ts' },
    ...more,
  })

/**
 * Runs a program of Node to its end.
 * @returns its exit code and its output, standard error included
 */
export const runNode = (args: readonly string[], cwd = ROOT) =>
  new Promise<{ code: number; output: string; stdout: string }>(resolve => {
    execFile(
      process.execPath,
      [...args],
      {
        cwd,
        timeout: 60_000,
        maxBuffer: 2 ** 26,
        env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
      },
      (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 128) : 0, output: stdout + stderr, stdout }),
    )
  })
