import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const PACKAGE = join(import.meta.dirname, '../..')
const ROOT = join(PACKAGE, '../..')

/**
 * Writes the package that is published: JavaScript and declarations, which other workspaces do not need, and a
 * package.json that exports them.
 * @param folder is emptied
 */
export function buildPackage(folder = join(PACKAGE, '.cache/package')): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('@typescript/native/package.json')),
    'bin/tsc',
  )
  execFileSync(process.execPath, [compiler, '-p', PACKAGE, '--outDir', folder], { stdio: 'pipe' })
  // The compiler rewrites these imports only in JavaScript.
  for (const file of globSync('*.d.ts', { cwd: folder }).map(name => join(folder, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w.-]+)\.ts'/g, "$1.js'"))
  for (const file of [join(PACKAGE, 'README.md'), join(ROOT, 'LICENSE')])
    cpSync(file, join(folder, file.slice(dirname(file).length + 1)))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
}

function manifest(): object {
  const { name, version, description, license, type } = JSON.parse(
    readFileSync(join(PACKAGE, 'package.json'), 'utf8'),
  )
  return {
    name,
    version,
    description,
    license,
    type,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['*.js', '*.d.ts'],
    sideEffects: false,
    engines: { node: '>=20.3' },
  }
}
