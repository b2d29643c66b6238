import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Release, sources } from '../../src/cluster.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const run = promisify(execFile)

/**
 * The last commit whose identity stores personal data in clear text. This release keeps collections of users in its shape until
 * its processes have ended, and drops those of earlier shapes when it starts.
 */
const COMMIT = '8c5d9032162ec294f6b180ef779806da836385a4'

export interface PreviousRelease extends Release {
  remove(): Promise<void>
}

/** Why the sources of the previous release are not available; undefined if they are. */
export async function lackingHistory(): Promise<string | undefined> {
  try {
    await run('git', ['-C', ROOT, 'cat-file', '-e', `${COMMIT}^{commit}`])
    return undefined
  } catch {
    return `needs a clone of the repository with commit ${COMMIT}`
  }
}

/** Extracts the sources of the previous release from the Git history. @throws Error when the history lacks them */
export async function makePreviousRelease(): Promise<PreviousRelease> {
  const root = await mkdtemp(join(tmpdir(), 'gantry-previous-'))
  const archive = join(root, 'sources.tar')
  const folders = ['package.json', 'packages', 'services']
  await run('git', ['-C', ROOT, 'archive', '--output', archive, COMMIT, ...folders])
  await run('tar', ['-xf', archive, '-C', root])
  await linkModules(root)
  return { ...sources(root), remove: () => rm(root, { recursive: true, force: true }) }
}

/** Links installed packages. Links between workspaces lead into the folder. */
async function linkModules(root: string): Promise<void> {
  const [installed, own] = [join(ROOT, 'node_modules'), join(root, 'node_modules')]
  await mkdir(join(own, '@gantry'), { recursive: true })
  for (const name of await readdir(installed))
    if (name !== '@gantry') await symlink(join(installed, name), join(own, name))
  for (const folder of ['packages', 'services'])
    for (const name of await readdir(join(root, folder)))
      await symlink(join(root, folder, name), join(own, '@gantry', name))
}
