import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {{ version?: string, link?: boolean, os?: string | string[], cpu?: string | string[], libc?: string | string[] }} Locked
 * @typedef {{ packages?: Record<string, Locked> }} Lockfile the parts of package-lock.json that are read here
 */

/**
 * @param {string} root
 * @returns {Lockfile}
 */
export function readLockfile(root) {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
}

/**
 * How many packages npm has to fetch on this platform.
 * @param {Lockfile} lockfile
 */
export function countPackages(lockfile) {
  const fetched = packagesForHere(lockfile).filter(([, locked]) => !locked.link)
  return new Set(fetched.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`))
    .size
}

/**
 * The packages made for this platform alone, such as native bindings, that are not installed. They are optional, so npm
 * drops one that it could not fetch or unpack without a word.
 * @param {string} root
 * @param {Lockfile} lockfile
 * @returns {string[]} their names
 */
export function missingPlatformPackages(root, lockfile) {
  return packagesForHere(lockfile)
    .filter(([path, { os }]) => os && !existsSync(join(root, path, 'package.json')))
    .map(([path]) => path.slice('node_modules/'.length))
}

/** @param {Lockfile} lockfile */
function packagesForHere({ packages = {} }) {
  const libc = hostLibc()
  return Object.entries(packages).filter(
    ([path, locked]) =>
      path.includes('node_modules/') &&
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

/** The C library by npm's names; those who lock a package to one mean Linux. */
function hostLibc() {
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
  return header.glibcVersionRuntime ? 'glibc' : 'musl'
}
