import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { ROOT, textOf } from './files.ts'

interface Package {
  dependencies?: Record<string, string>
  dev?: boolean
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

/** Whether .dockerignore includes a file in the build context: the last matching line decides. */
function isSent(path: string): boolean {
  const lines = textOf('.dockerignore')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
  let sent = true
  for (const line of lines) {
    const pattern = line.replace(/^!/, '')
    if (matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`)) sent = line.startsWith('!')
  }
  return sent
}

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === '.git') continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else yield relative(ROOT, path)
  }
}

/**
 * Creates a folder like the Dockerfile: the files of the build context, and links to the installed packages that npm would
 * install for their manifests without development dependencies.
 */
export function imageIn(folder: string): void {
  const sent = [...filesIn(ROOT)].filter(isSent)
  for (const path of sent) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(ROOT, path), join(folder, path))
  }
  const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Package> }
  const manifests = sent.filter(path => path.endsWith('/package.json')).map(path => dirname(path))
  const wanted = new Set<string>()
  const want = (entry: string) => {
    for (const name of Object.keys(packages[entry]?.dependencies ?? {})) {
      if (wanted.has(name) || name.startsWith('@gantry/')) continue
      wanted.add(name)
      want(`node_modules/${name}`)
    }
  }
  manifests.forEach(want)
  const link = (target: string, name: string) => {
    const path = join(folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(target, path)
  }
  for (const name of wanted) link(join(ROOT, 'node_modules', name), name)
  for (const workspace of manifests) link(join(folder, workspace), `@gantry/${workspace.split('/')[1]}`)
}
