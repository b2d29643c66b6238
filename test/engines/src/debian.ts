import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './program.ts'

const DOWNLOAD_MS = 120_000

/** Downloads a package of Debian and unpacks it into a folder, without installing it. @throws Error with the reason */
export async function unpackDebianPackage(name: string, folder: string): Promise<void> {
  const lists = ['-o', `Dir::State::Lists=${folder}/lists`, '-o', `Dir::Cache=${folder}/cache`]
  const options = { cwd: folder, timeoutMs: DOWNLOAD_MS }
  const download = ['download', name]
  try {
    await run('apt-get', download, { ...options, doing: `downloading ${name} from Debian, once` })
  } catch {
    // The package lists of the machine are missing or outdated. They are not changed.
    await mkdir(join(folder, 'lists', 'partial'), { recursive: true })
    await mkdir(join(folder, 'cache', 'archives', 'partial'), { recursive: true })
    await run('apt-get', [...lists, 'update'], { ...options, doing: "reading Debian's lists of packages" })
    await run('apt-get', [...lists, ...download], options)
  }
  const [file] = (await readdir(folder)).filter(entry => entry.endsWith('.deb'))
  await run('dpkg', ['-x', file ?? '', '.'], options)
  await Promise.all(
    ['lists', 'cache', file ?? ''].map(entry => rm(join(folder, entry), { recursive: true, force: true })),
  )
}
