import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CACHE, isThere, onPath, run } from './program.ts'

export const FERRETDB = '1.24.2'

const SOURCES = join(import.meta.dirname, '..', 'ferretdb')
const MODULE = 'github.com/FerretDB/FerretDB'
const DOWNLOAD_MS = 180_000
const COMPILE_MS = 600_000

/**
 * Fixes of two defects. FerretDB reads all documents to find one by its id, since its index has another expression than
 * its query. It crashes on a request for several indexes of which some exist.
 */
const PATCHES = [
  {
    file: 'internal/backends/sqlite/metadata/metadata.go',
    from: `IDColumn = DefaultColumn + "->'$._id'"`,
    to: String.raw`IDColumn = DefaultColumn + "->\"_id\""`,
  },
  {
    file: 'internal/backends/sqlite/collection.go',
    from: 'if params.Filter.Len() == 1 {',
    to: 'if params.Filter.Len() > 0 {',
  },
  {
    file: 'internal/handler/msg_createindexes.go',
    from: 'slices.Delete(filteredToCreate, i, i+1)',
    to: 'slices.DeleteFunc(filteredToCreate, func(i backends.IndexInfo) bool { return i.Name == newIdx.Name })',
  },
]

/** Compiles the server of test/engines/ferretdb with Go, unless it is cached. @returns its path; undefined without Go */
export async function ferretDb(): Promise<string | undefined> {
  const home = join(CACHE, `ferretdb-${FERRETDB}-${await fingerprint()}`)
  const program = join(home, 'ferretdb')
  if (await isThere(program)) return program
  if (!(await onPath('go'))) return undefined
  await mkdir(CACHE, { recursive: true })
  const making = await mkdtemp(join(CACHE, 'making-'))
  try {
    await compile(making)
    await mkdir(home, { recursive: true })
    await rename(join(making, 'ferretdb'), program)
    return program
  } catch (error) {
    process.stderr.write(`FerretDB could not be installed with go: ${(error as Error).message}\n`)
    return undefined
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

/** Hash of all sources and patches, so that a program compiled from other sources is not used. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(PATCHES))
  for (const file of (await readdir(SOURCES)).sort())
    hash.update(file).update(await readFile(join(SOURCES, file)))
  return hash.digest('hex').slice(0, 12)
}

async function compile(folder: string): Promise<void> {
  await cp(SOURCES, folder, { recursive: true })
  const go = (args: string[], timeoutMs: number, doing?: string) =>
    run('go', args, { cwd: folder, timeoutMs, ...(doing && { doing }) })
  const download = ['mod', 'download', '-json', MODULE]
  const printed = await go(download, DOWNLOAD_MS, `downloading FerretDB ${FERRETDB} with Go, once`)
  const module = join(folder, 'module')
  await run('cp', ['-R', JSON.parse(printed).Dir, module], { timeoutMs: 60_000 })
  await run('chmod', ['-R', 'u+w', module], { timeoutMs: 60_000 })
  for (const { file, from, to } of PATCHES) await patch(join(module, file), from, to)
  await go(['mod', 'edit', `-replace=${MODULE}=./module`], 10_000)
  const build = ['build', '-trimpath', '-tags', 'ferretdb_no_postgresql', '-o', 'ferretdb', '.']
  await go(build, COMPILE_MS, `compiling FerretDB ${FERRETDB} with Go, once, for a minute or two`)
}

async function patch(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} is not as expected`)
  await writeFile(
    file,
    text.replace(from, () => to),
  )
}
