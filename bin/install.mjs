import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exclusively } from './exclusive.mjs'
import { npmCi } from './npm-ci.mjs'
import { expectRuntime, linkRuntime } from './runtime.mjs'
import { stampInstall, whyInstall } from './stamp.mjs'
import { installTrouble, Trouble } from './trouble.mjs'

/**
 * Makes sure that node_modules is whole and made from package-lock.json. Of two at once the second waits and finds the
 * work done; one cut short is done again by the next.
 * @param {string} root
 * @param {import('./terminal.mjs').Terminal} screen
 * @throws {Trouble} saying what is wrong
 */
export async function install(root, screen) {
  if (!whyInstall(root)) return
  const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  expectRuntime(lockfile)
  try {
    await exclusively(
      join(root, '.cache/install.lock'),
      async () => {
        const reason = whyInstall(root)
        if (!reason) return
        await installNow(root, lockfile, reason, screen)
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
 * @param {object} lockfile
 * @param {string} reason
 * @param {import('./terminal.mjs').Terminal} screen
 */
async function installNow(root, lockfile, reason, screen) {
  const total = tarballs(lockfile)
  const started = performance.now()
  const seconds = () => Math.round((performance.now() - started) / 1000)
  const state = { fetched: 0, hint: '' }
  const draw = () => {
    const step = state.fetched < total ? `${state.fetched} of ${total} packages fetched` : 'unpacking'
    screen.status(`Installing: ${step}, ${seconds()} s${state.hint && `; ${state.hint}`}`)
  }

  screen.line(`Installing ${total} packages: ${reason}.`)
  const ticking = setInterval(draw, screen.living ? 250 : 1_000)
  try {
    await npmCi(root, {
      onFetched: () => {
        state.fetched++
        state.hint = ''
      },
      onHint: hint => {
        state.hint = hint
      },
    })
  } finally {
    clearInterval(ticking)
  }
  linkRuntime(root)
  stampInstall(root)
  screen.done(`Installed ${total} packages in ${seconds()} s.`)
}

/**
 * How many tarballs npm has to fetch on this platform.
 * @param {object} lockfile
 */
function tarballs(lockfile) {
  /** @typedef {{ version?: string, link?: boolean, os?: string | string[], cpu?: string | string[], libc?: string | string[] }} Locked */
  const { packages = {} } = /** @type {{ packages?: Record<string, Locked> }} */ (lockfile)
  const names = Object.entries(packages)
    .filter(([path, locked]) => path.includes('node_modules/') && !locked.link && fitsHere(locked))
    .map(([path, locked]) => `${path.split('node_modules/').at(-1)}@${locked.version}`)
  return new Set(names).size
}

/** @param {{ os?: string | string[], cpu?: string | string[], libc?: string | string[] }} locked */
function fitsHere({ os, cpu, libc }) {
  /**
   * @param {string | string[] | undefined} list
   * @param {string} here
   */
  const has = (list, here) => !list || [list].flat().includes(here)
  return has(os, process.platform) && has(cpu, process.arch) && has(libc, 'glibc')
}
