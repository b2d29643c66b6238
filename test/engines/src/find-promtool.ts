import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { unpackDebianPackage } from './debian.ts'
import { CACHE, isThere, onPath } from './program.ts'

/** How to get promtool, in one line. */
export const HOW_TO_HAVE_PROMTOOL = 'put promtool on the PATH (apt-get install prometheus)'

/** Path of Prometheus's promtool: on the PATH, or from Debian's package, which is kept. Undefined if it cannot be installed. */
export async function findPromtool(): Promise<string | undefined> {
  const there = await onPath('promtool')
  if (there) return there
  const home = join(CACHE, 'prometheus-debian')
  const path = join(home, 'usr/bin/promtool')
  if (await isThere(path)) return path
  if (!(await onPath('apt-get'))) return undefined
  await mkdir(CACHE, { recursive: true })
  const making = await mkdtemp(join(CACHE, 'making-'))
  try {
    await unpackDebianPackage('prometheus', making)
    await rm(home, { recursive: true, force: true })
    await rename(making, home).catch(async error => {
      if (!(await isThere(path))) throw error
    })
    return path
  } catch (error) {
    process.stderr.write(`prometheus could not be installed from Debian: ${(error as Error).message}\n`)
    return undefined
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}
