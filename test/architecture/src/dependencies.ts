import { builtinModules } from 'node:module'
import type { ProjectFile } from './project-files.ts'
import { importsOf, isSource, isTest, packageOf, workspaceOf } from './source.ts'

interface Manifest {
  name: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/**
 * Every workspace declares what it imports, so that it can be installed alone, and nothing else. Packages of types need no
 * import.
 */
export function misdeclared(files: readonly ProjectFile[]): string[] {
  const root = files.find(({ path }) => path === 'package.json')
  const everybodys = root ? declaredBy(JSON.parse(root.text)) : []
  return files
    .filter(({ path }) => path === `${workspaceOf(path)}/package.json`)
    .flatMap(({ path, text }) => {
      const manifest: Manifest = JSON.parse(text)
      const workspace = workspaceOf(path)
      const own = files.filter(
        file => isSource(file) && workspaceOf(file.path) === workspace && !isExample(file),
      )
      const imported = new Set(own.flatMap(importsOf).flatMap(specifier => packageOf(specifier) ?? []))
      const declared = declaredBy(manifest)
      const known = new Set([...declared, ...everybodys, manifest.name])
      return [
        ...[...imported]
          .filter(name => !isBuiltin(name) && !known.has(name))
          .map(name => `${workspace} imports ${name}, which it does not declare`),
        ...declared
          .filter(name => !name.startsWith('@types/') && !imported.has(name))
          .map(name => `${workspace} declares ${name}, which it does not import`),
      ]
    })
}

/** Production code imports no development dependencies, because `npm start` does not install them. */
export function missingInProduction(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => path === `${workspaceOf(path)}/package.json` && !path.startsWith('test/'))
    .flatMap(({ path, text }) => {
      const { name, dependencies = {} }: Manifest = JSON.parse(text)
      const workspace = workspaceOf(path)
      const run = files.filter(
        file => isSource(file) && workspaceOf(file.path) === workspace && !isForTests(file),
      )
      const imported = new Set(run.flatMap(importsOf).flatMap(specifier => packageOf(specifier) ?? []))
      return [...imported]
        .filter(other => !isBuiltin(other) && other !== name && !(other in dependencies))
        .map(other => `${workspace} imports ${other}, which npm start does not install`)
    })
}

const isForTests = (file: ProjectFile) => isTest(file) || file.path.includes('/fixtures/')

/** Contains imports as examples. */
const isExample = ({ path }: ProjectFile) => path === 'test/architecture/architecture.test.ts'

const declaredBy = ({ dependencies, devDependencies }: Manifest) =>
  Object.keys({ ...dependencies, ...devDependencies })

const isBuiltin = (name: string) => name.startsWith('node:') || builtinModules.includes(name)
