import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

const CACHE = join(import.meta.dirname, '../../../.cache/clients')

/**
 * A folder with copies of files, in which `make` has run. It is kept until a file or a word of the key changes.
 * @param name of the folder in the cache
 * @param files paths of files, with patterns
 * @param key other inputs
 */
export async function madeFolder(
  name: string,
  files: readonly string[],
  key: readonly string[],
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(key))
  const paths = globSync(files).toSorted()
  for (const path of paths) hash.update(basename(path)).update(await readFile(path))
  const [folder, stamp] = [join(CACHE, name), hash.digest('hex')]
  const made = join(folder, '.made')
  if ((await readFile(made, 'utf8').catch(() => '')) === stamp) return folder
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const path of paths) await cp(path, join(folder, basename(path)))
  await make(folder)
  // The last file, so that an interrupted run leaves a folder that is made again.
  await writeFile(made, stamp)
  return folder
}
