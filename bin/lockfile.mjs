import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * @typedef {import('./stamp.mjs').Part} Part
 * @typedef {{ version?: string, link?: boolean, dev?: boolean, os?: string | string[], cpu?: string | string[], libc?: string | string[] }} Locked
 * @typedef {{ packages?: Record<string, Locked> }} Lockfile the fields of package-lock.json that the launcher uses
 */

/**
 * @param {string} root
 * @returns {Lockfile}
 */
export function readLockfile(root) {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
}

/**
 * The number of packages that npm has to fetch on this platform.
 * @param {Lockfile} lockfile
 * @param {Part} part
 * @param {boolean} adding whether the production part is installed already
 */
export function countPackages(lockfile, part, adding) {
  const fetched = packagesForHere(lockfile, part).filter(([, { link, dev }]) => !link && (dev || !adding))
  return new Set(fetched.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`))
    .size
}

/**
 * The platform-specific packages, such as native bindings, that are not installed. They are optional, so npm silently skips
 * one that it could not fetch or unpack.
 * @param {string} root
 * @param {Lockfile} lockfile
 * @param {Part} part
 * @returns {string[]} their names
 */
export function missingPlatformPackages(root, lockfile, part) {
  return packagesForHere(lockfile, part)
    .filter(([path, { os }]) => os && !existsSync(join(root, path, 'package.json')))
    .map(([path]) => path.slice('node_modules/'.length))
}

/**
 * Removes the test tools and npm's own list of installed packages. An interrupted install may have left incomplete tools,
 * which npm would treat as complete. The packages that a running service needs are not touched.
 * @param {string} root
 * @param {Lockfile} lockfile
 */
export async function removeTools(root, { packages = {} }) {
  await rm(join(root, 'node_modules/.package-lock.json'), { force: true })
  for (const [path, { dev }] of Object.entries(packages))
    if (dev && path.includes('node_modules/')) await rm(join(root, path), { recursive: true, force: true })
}

/**
 * @param {Lockfile} lockfile
 * @param {Part} part
 */
function packagesForHere({ packages = {} }, part) {
  const libc = hostLibc()
  return Object.entries(packages).filter(
    ([path, locked]) =>
      path.includes('node_modules/') &&
      (part === 'tools' || !locked.dev) &&
      admits(locked.os, process.platform) &&
      admits(locked.cpu, process.arch) &&
      admits(locked.libc, libc),
  )
}

/**
 * @param {string | string[] | undefined} list
 * @param {string} here
 */
function admits(list, here) {
  return !list || [list].flat().includes(here)
}

/** The C library of the host by npm's name. Only packages for Linux are restricted by it. */
function hostLibc() {
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
  return header.glibcVersionRuntime ? 'glibc' : 'musl'
}
