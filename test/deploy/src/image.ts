import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { ROOT, textOf } from './files.ts'

interface Package {
  dependencies?: Record<string, string>
  dev?: boolean
}

/** What the instruction of the Dockerfile says, each time that it is there. */
export function instructions(name: string): string[] {
  const lines = textOf('deploy/Dockerfile').replaceAll('\\\n', '').split('\n')
  return lines.filter(line => line.startsWith(`${name} `)).map(line => line.slice(name.length + 1))
}

/** Whether .dockerignore lets a file into the build: the last of its lines that fits says so. */
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
 * Makes a folder as the Dockerfile does: the files that are sent to the build, and beside them the packages that npm
 * installs for their manifests without what only development needs, taken from those that are installed here.
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
