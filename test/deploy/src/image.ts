import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { ROOT, textOf } from './files.ts'

interface Package {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/**
 * How Kubernetes runs the image: the argument of the entry point for a process, and commands for what precedes an upgrade of
 * the services and of the gateway.
 */
export const RUN = {
  process: (name: string) => [name],
  beforeServices: ['gantry', 'rebuild', '--new'],
  beforeGateway: ['gantry', 'await-services'],
} as const

/** The arguments of Node with which the entry point of the image runs a process, in the folder of the image. */
export function argumentsOfImage(process: string): string[] {
  const [entrypoint = '[]'] = instructions('ENTRYPOINT')
  const [program, ...args] = JSON.parse(entrypoint) as string[]
  if (program !== '/usr/local/bin/node') throw new Error(`the entry point of the image is ${program}`)
  return [...args, ...RUN.process(process)]
}

/** The arguments of Node for a command of the image in a folder. */
export function argumentsOfCommand(image: string, [program, ...args]: readonly string[]): string[] {
  if (program !== 'gantry') throw new Error(`the image has no command ${program}`)
  const path = textOf('deploy/image/gantry').match(/'\/gantry\/(.*)'/)?.[1] ?? ''
  return [join(image, path), ...args]
}

/** The arguments of all occurrences of an instruction in the Dockerfile. */
export function instructions(name: string): string[] {
  const lines = textOf('deploy/Dockerfile').replaceAll('\\\n', '').split('\n')
  return lines.filter(line => line.startsWith(`${name} `)).map(line => line.slice(name.length + 1))
}

/** The files of the build context, relative to the root. The last line of .dockerignore that matches a path decides. */
function sentFiles(): string[] {
  const rules = textOf('.dockerignore')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => ({ isSent: line.startsWith('!'), pattern: line.replace(/^!/, '') }))
  const matches = (path: string, pattern: string) =>
    matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`)
  return [...filesIn(ROOT)].filter(path =>
    rules.reduce((sent, { isSent, pattern }) => (matches(path, pattern) ? isSent : sent), true),
  )
}

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (['node_modules', '.git', '.cache'].includes(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else yield relative(ROOT, path)
  }
}

/**
 * Creates a folder like the Dockerfile: the files of the build context, links to the installed packages that npm would
 * install for their manifests without development dependencies, and the web console.
 */
export function imageIn(folder: string): void {
  const files = sentFiles()
  const console = join(folder, 'console-stage')
  consoleIn(console, files)
  const sent = files.filter(path => !path.startsWith('services/console/'))
  copyTo(folder, sent)
  const manifests = manifestsOf(sent)
  linkPackages(folder, packagesOf(manifests))
  for (const workspace of manifests)
    link(join('../..', workspace), join(folder, 'node_modules', `@gantry/${workspace.split('/')[1]}`))
  cpSync(join(console, '.cache'), join(folder, '.cache'), { recursive: true })
  rmSync(console, { recursive: true })
}

/** Builds the web console like the Dockerfile, with the packages of its workspaces and of no other. */
function consoleIn(folder: string, sent: readonly string[]): void {
  const needed = /^services\/console\/|^packages\/(client|markup)\/|^package[^s]/
  copyTo(
    folder,
    sent.filter(path => needed.test(path)),
  )
  const packages = ['packages/client', 'packages/markup']
  linkPackages(folder, packagesOf(['services/console', ...packages], { optional: true }))
  for (const each of packages)
    link(join('../..', each), join(folder, each.replace('packages', 'node_modules/@gantry')))
  const environment = { PATH: dirname(process.execPath), NODE_ENV: 'production' }
  execFileSync(process.execPath, ['services/console/src/main.ts'], { cwd: folder, env: environment })
}

function copyTo(folder: string, paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(ROOT, path), join(folder, path))
  }
}

const manifestsOf = (paths: readonly string[]) =>
  paths.filter(path => path.endsWith('/package.json')).map(path => dirname(path))

/**
 * The paths of the packages that workspaces need, directly or not: a workspace has its own copy of a package if the root has
 * another version, or none.
 */
function packagesOf(workspaces: readonly string[], { optional = false } = {}): Set<string> {
  const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Package> }
  const wanted = new Set<string>()
  const want = (entry: string) => {
    const { dependencies = {}, optionalDependencies = {} } = packages[entry] ?? {}
    for (const name of Object.keys({ ...dependencies, ...(optional && optionalDependencies) })) {
      const own = `${entry}/node_modules/${name}`
      const path = packages[own] ? own : `node_modules/${name}`
      if (wanted.has(path) || name.startsWith('@gantry/') || !existsSync(join(ROOT, path))) continue
      wanted.add(path)
      want(path)
    }
  }
  workspaces.forEach(want)
  return wanted
}

function linkPackages(folder: string, paths: Iterable<string>): void {
  for (const path of paths)
    if (!/node_modules\/.*node_modules/.test(path)) link(join(ROOT, path), join(folder, path))
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}
