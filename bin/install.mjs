import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exitCodeOf, runChild } from './child.mjs'
import { exclusively } from './lock.mjs'
import { expectRuntime, linkRuntime, UserError } from './runtime.mjs'

/**
 * @typedef {'production' | 'tools'} Part `production` is what the service needs, `tools` is that and what tests need
 * @typedef {{ dev?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Locked
 * @typedef {{ packages?: Record<string, Locked> }} Lockfile the fields of package-lock.json that the launcher uses
 */

/**
 * These override the user's npmrc and environment. Engines are not strict, because only npm runs on the host's older Node.
 * Install scripts, which could need a compiler, are not run, because no package needs one.
 */
const FLAGS =
  `--include=prod --include=optional --no-engine-strict --ignore-scripts --bin-links --no-audit --no-fund
  --no-update-notifier --no-progress --loglevel=error`.split(/\s+/)
/** The pauses between retries. By default, those of npm add up to more than a minute. */
const PAUSES = { npm_config_fetch_retry_mintimeout: '1000', npm_config_fetch_retry_maxtimeout: '5000' }
const ADVICE =
  'Check the disk, the network, the proxy (npm config get proxy) and the registry (npm config get registry).'

/** @param {string} root */
const stampFile = root => join(root, 'node_modules/.gantry-installed')
/**
 * The stamp of a finished install: the platform, the hash of package-lock.json and the part.
 * @type {(root: string, part: Part) => [string, string, Part]}
 */
function stampOf(root, part) {
  const lockfile = readFileSync(join(root, 'package-lock.json'))
  return [`${process.platform}-${process.arch}`, createHash('sha256').update(lockfile).digest('hex'), part]
}

/**
 * Why an install is needed; undefined when node_modules has the complete part from this lockfile for this platform.
 * `npm ci` empties node_modules first and the stamp is written last, so that an interrupted install leaves no stamp. An
 * interrupted addition of the tools leaves the stamp of the production part.
 * @type {(root: string, part: Part) => string | undefined}
 */
export function whyInstall(root, part) {
  if (!existsSync(join(root, 'node_modules'))) return 'nothing is installed yet'
  if (!existsSync(stampFile(root))) return 'node_modules was not made by a finished run of this command'
  const [platform, hash, installed] = readFileSync(stampFile(root), 'utf8').trim().split(' ')
  const [wantedPlatform, wantedHash] = stampOf(root, part)
  if (platform !== wantedPlatform) return `node_modules is from another platform, ${platform}`
  if (hash !== wantedHash) return 'package-lock.json has changed'
  return part === 'tools' && installed !== 'tools' ? 'the test tools are missing' : undefined
}

/**
 * Makes sure that node_modules has a complete part as in package-lock.json. A concurrent second run waits for the first.
 * An interrupted install is repeated by the next run.
 * @param {string} root
 * @param {Part} part
 * @throws {UserError} when the install fails
 */
export async function install(root, part) {
  if (!whyInstall(root, part)) return
  /** @type {Lockfile} */
  const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  expectRuntime(lockfile)
  await alone(root, () => installNow(root, part, lockfile))
}

/** @type {(root: string, work: () => Promise<void>) => Promise<void>} */
async function alone(root, work) {
  const onWait = () => console.error('Another run is installing here: waiting for it.')
  await exclusively(join(root, '.cache/install.lock'), work, onWait).catch(error => {
    throw error.code ? new UserError(`Cannot install: ${error.message}`, ADVICE) : error
  })
}

/**
 * Installs a package of data without its dependencies in a folder of its own, unless it is there.
 * @param {string} root
 * @param {{ name: string, version: string, integrity: string }} wanted
 * @returns the folder of the package
 * @throws {UserError} when the install fails
 */
export async function installData(root, { name, version, integrity }) {
  const folder = join(root, '.cache', name)
  const path = `node_modules/${name}`
  const isInstalled = () => {
    const finished = join(folder, 'node_modules/.package-lock.json')
    return existsSync(finished) && readFileSync(finished, 'utf8').includes(integrity)
  }
  const work = async () => {
    if (isInstalled()) return
    console.error(`Installing: ${name} ${version}.`)
    const project = { name: 'data', version: '1.0.0', dependencies: { [name]: version } }
    const packages = { '': project, [path]: { version, integrity } }
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
    await npm(folder, ['ci'])
  }
  if (!isInstalled()) await alone(root, work)
  return join(folder, path)
}

/**
 * The test tools are added to an installed production part without changing its files, so that a running service is not
 * disturbed.
 * @type {(root: string, part: Part, lockfile: Lockfile) => Promise<void>}
 */
async function installNow(root, part, lockfile) {
  const reason = whyInstall(root, part)
  if (!reason) return
  console.error(`Installing: ${reason}.`)
  // An explicit --include takes precedence over NODE_ENV=production.
  const tools = part === 'tools' ? '--include=dev' : '--omit=dev'
  if (!whyInstall(root, 'production')) {
    await removeTools(root, lockfile)
    await withProgress(root, lockfile, part, npm(root, ['install', '--no-save', '--package-lock', tools]))
  } else await withProgress(root, lockfile, part, npm(root, ['ci', tools]))
  const missing = missingPackages(root, lockfile, part).join(', ')
  if (missing) throw new UserError(`Cannot install: npm left out ${missing}.`, ADVICE)
  linkRuntime(root)
  // Replaced atomically, so that the stamp is never missing while the service runs.
  writeFileSync(`${stampFile(root)}.new`, `${stampOf(root, part).join(' ')}\n`)
  renameSync(`${stampFile(root)}.new`, stampFile(root))
}

/** Time between two reports of the progress, in milliseconds: on a terminal, in one line that is updated, and elsewhere. */
const REPORT_MS = process.stderr.isTTY ? 1_000 : 15_000

/**
 * Reports how many packages are there until the installation ends.
 * @type {(root: string, lockfile: Lockfile, part: Part, installed: Promise<void>) => Promise<void>}
 */
async function withProgress(root, lockfile, part, installed) {
  const startedAt = performance.now()
  const wanted = Object.entries(lockfile.packages ?? {}).filter(
    ([path, { dev, os, cpu }]) =>
      path.startsWith('node_modules/') &&
      (part === 'tools' || !dev) &&
      (!os || os.includes(process.platform)) &&
      (!cpu || cpu.includes(process.arch)),
  )
  const report = () => {
    const there = wanted.filter(([path]) => existsSync(join(root, path, 'package.json')))
    const line = `${there.length} of ${wanted.length} packages, ${Math.round((performance.now() - startedAt) / 1000)} s`
    process.stderr.write(process.stderr.isTTY ? `\r${line}\x1b[K` : `${line}\n`)
  }
  const timer = setInterval(report, REPORT_MS)
  try {
    await installed
  } finally {
    clearInterval(timer)
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  }
}

/**
 * Runs npm, with the version and the Node of the npm that has started this process. npm shows its progress and its errors.
 * @type {(root: string, args: string[]) => Promise<void>}
 */
async function npm(root, args) {
  const { npm_execpath: script = '', npm_node_execpath: node } = process.env
  const onPath = process.platform === 'win32' ? ['cmd.exe', '/c', 'npm'] : ['npm']
  const command = node && /npm-cli\.c?js$/.test(script) ? [node, script] : onPath
  const { code, signal } = await runChild([...command, ...args, ...FLAGS], {
    cwd: root,
    env: { ...PAUSES, ...process.env },
    stdio: ['ignore', process.stderr, process.stderr],
    killAfterMs: 1_000,
  })
  const stopped = 'Stopped while installing: the next run starts the install again.'
  if (signal) throw new UserError(stopped, '', exitCodeOf(signal))
  // npm may exit with 0 after a failure, for example on a full disk. It writes the hidden lockfile last.
  if (code !== 0 || !existsSync(join(root, 'node_modules/.package-lock.json')))
    throw new UserError(`Cannot install: npm ${args[0]} failed.`, ADVICE)
}

/**
 * Removes the test tools and npm's own list of installed packages. An interrupted install may have left incomplete tools,
 * which npm would treat as complete.
 * @type {(root: string, lockfile: Lockfile) => Promise<void>}
 */
async function removeTools(root, { packages = {} }) {
  await rm(join(root, 'node_modules/.package-lock.json'), { force: true })
  for (const [path, { dev }] of Object.entries(packages))
    if (dev && path.includes('node_modules/')) await rm(join(root, path), { recursive: true, force: true })
}

/**
 * The packages of a part for this platform that are missing. Packages for some platforms are optional, so npm silently skips
 * one that it could not fetch or unpack. Only packages for Linux name a C library.
 * @type {(root: string, lockfile: Lockfile, part: Part) => string[]}
 */
function missingPackages(root, { packages = {} }, part) {
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
  const hostLibc = header.glibcVersionRuntime ? 'glibc' : 'musl'
  const isForHere = (/** @type {Locked} */ { dev, os, cpu, libc }) =>
    os?.includes(process.platform) &&
    (!cpu || cpu.includes(process.arch)) &&
    (!libc || libc.includes(hostLibc)) &&
    (part === 'tools' || !dev)
  return Object.entries(packages)
    .filter(([path, locked]) => isForHere(locked) && !existsSync(join(root, path, 'package.json')))
    .map(([path]) => path.slice('node_modules/'.length))
}
