import { join } from 'node:path'
import { exclusively } from './exclusive.mjs'
import { countPackages, missingPlatformPackages, readLockfile, removeTools } from './lockfile.mjs'
import { npmCi } from './npm-ci.mjs'
import { expectRuntime, linkRuntime } from './runtime.mjs'
import { stampInstall, whyInstall } from './stamp.mjs'
import { installTrouble, Trouble } from './trouble.mjs'

/**
 * Makes sure that node_modules has a complete part as in package-lock.json. A concurrent second run waits for the first.
 * An interrupted install is repeated by the next run. The test tools are added to an installed production part without
 * changing its files, so that a running service is not disturbed.
 * @param {string} root
 * @param {import('./stamp.mjs').Part} part
 * @param {import('./terminal.mjs').Terminal} screen
 * @throws {Trouble} when the install fails
 */
export async function install(root, part, screen) {
  if (!whyInstall(root, part)) return
  const lockfile = readLockfile(root)
  expectRuntime(lockfile)
  try {
    await exclusively(
      join(root, '.cache/install.lock'),
      async () => {
        const reason = whyInstall(root, part)
        if (!reason) return
        await installNow(root, lockfile, { part, reason }, screen)
      },
      { onWait: () => screen.line('Another run is installing here: waiting for it.') },
    )
  } catch (error) {
    if (error instanceof Trouble) throw error
    const { code, path } = /** @type {NodeJS.ErrnoException} */ (error)
    if (!code) throw error
    throw installTrouble(code, { root, where: path })
  }
}

/**
 * @param {string} root
 * @param {import('./lockfile.mjs').Lockfile} lockfile
 * @param {{ part: import('./stamp.mjs').Part, reason: string }} why
 * @param {import('./terminal.mjs').Terminal} screen
 */
async function installNow(root, lockfile, { part, reason }, screen) {
  const adding = !whyInstall(root, 'production')
  const total = countPackages(lockfile, part, adding)
  const started = performance.now()
  const seconds = () => Math.round((performance.now() - started) / 1000)
  const state = { fetched: 0, hint: '' }
  const draw = () => {
    const fetching = state.fetched < total
    const step = fetching ? `${state.fetched} of ${total} packages fetched` : 'unpacking'
    screen.status(`Installing: ${step}, ${seconds()} s${fetching && state.hint ? `; ${state.hint}` : ''}`)
  }

  screen.line(`Installing ${total} packages: ${reason}.`)
  const ticking = setInterval(draw, screen.living ? 250 : 1_000)
  try {
    if (adding) await removeTools(root, lockfile)
    await npmCi(
      root,
      { part, adding },
      {
        onFetched: () => {
          state.fetched++
        },
        onHint: hint => {
          state.hint = hint
        },
      },
    )
  } finally {
    clearInterval(ticking)
  }
  const missing = missingPlatformPackages(root, lockfile, part)
  if (missing.length > 0) {
    throw new Trouble(
      `Cannot install: npm left out ${missing.join(', ')}.`,
      'npm does so when it cannot fetch or unpack a package: check the network and the disk, and run this again.',
    )
  }
  linkRuntime(root)
  stampInstall(root, part)
  screen.done(`Installed ${total} packages in ${seconds()} s.`)
}
