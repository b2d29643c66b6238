import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CACHE, isThere, onPath, run } from './program.ts'

const DOWNLOAD_MS = 180_000
const COMPILE_MS = 1_800_000

export interface GoProgram {
  /** Name of the program, and of its folder in the cache. */
  name: string
  version: string
  /** Folder with go.mod and the main package. */
  sources: string
  /** A module that is changed before it is compiled. */
  module?: string
  /** Changes of files of the module. Without `from` the whole file is replaced or made. */
  patches?: readonly { file: string; from?: string; to: string }[]
  /** Flags of `go build`. */
  flags?: readonly string[]
  /** Time for the compilation, with downloads. Default: half an hour, which only a hang reaches. */
  compileMs?: number
}

/** Compiles a program with Go, unless it is cached. @returns its path; undefined without Go or when it cannot be compiled */
export async function goProgram(program: GoProgram): Promise<string | undefined> {
  const { name, version } = program
  const home = join(CACHE, `${name}-${version}-${await fingerprint(program)}`)
  const path = join(home, name)
  if (await isThere(path)) return path
  if (!(await onPath('go'))) return undefined
  await mkdir(CACHE, { recursive: true })
  const making = await mkdtemp(join(CACHE, 'making-'))
  try {
    await compile(program, making)
    await mkdir(home, { recursive: true })
    await rename(join(making, name), path)
    return path
  } catch (error) {
    process.stderr.write(`${name} could not be installed with go: ${(error as Error).message}\n`)
    return undefined
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

/** Folder of a module in Go's cache, downloaded if necessary. @throws Error when it cannot be downloaded or differs from `sum` */
export async function goModule(module: string, sum: string): Promise<string> {
  const printed = await run('go', ['mod', 'download', '-json', module], {
    timeoutMs: DOWNLOAD_MS,
    doing: `downloading ${module} with Go`,
  })
  const { Dir, Sum } = JSON.parse(printed) as { Dir: string; Sum: string }
  if (Sum !== sum) throw new Error(`${module} has the sum ${Sum}, not ${sum}`)
  return Dir
}

/** Hash of all sources, patches and flags, so that a program compiled from others is not used. */
async function fingerprint({ sources, patches, flags }: GoProgram): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify({ patches, flags }))
  for (const file of (await readdir(sources)).sort())
    hash.update(file).update(await readFile(join(sources, file)))
  return hash.digest('hex').slice(0, 12)
}

async function compile(program: GoProgram, folder: string): Promise<void> {
  const { name, version, sources, flags = [], compileMs = COMPILE_MS } = program
  await cp(sources, folder, { recursive: true })
  await change(program, folder)
  const build = ['build', '-trimpath', ...flags, '-o', name, '.']
  const doing = `compiling ${name} ${version} with Go, once, for some minutes`
  await run('go', build, { cwd: folder, timeoutMs: compileMs, doing })
}

/** Replaces the module of a program by a changed copy. */
async function change({ name, version, module, patches = [] }: GoProgram, folder: string): Promise<void> {
  if (!module) return
  const printed = await run('go', ['mod', 'download', '-json', module], {
    cwd: folder,
    timeoutMs: DOWNLOAD_MS,
    doing: `downloading ${name} ${version} with Go, once`,
  })
  const changed = join(folder, 'module')
  await run('cp', ['-R', JSON.parse(printed).Dir, changed], { timeoutMs: 60_000 })
  await run('chmod', ['-R', 'u+w', changed], { timeoutMs: 60_000 })
  for (const { file, from, to } of patches) await patch(join(changed, file), from, to)
  const replace = ['mod', 'edit', `-replace=${module}=./module`]
  await run('go', replace, { cwd: folder, timeoutMs: 10_000 })
}

async function patch(file: string, from: string | undefined, to: string): Promise<void> {
  if (from === undefined) {
    await mkdir(dirname(file), { recursive: true })
    return writeFile(file, to)
  }
  const text = await readFile(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} is not as expected`)
  await writeFile(
    file,
    text.replace(from, () => to),
  )
}
