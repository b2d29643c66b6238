import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A part of the packages: `production` is what the service needs, `tools` is that and what tests and checks need.
 * @typedef {'production' | 'tools'} Part
 */

/** @param {string} root */
const stampFile = root => join(root, 'node_modules/.gantry-installed')

/**
 * The content of the stamp file after a finished install of a part of this lockfile on this platform.
 * @param {string} root the folder of package-lock.json
 * @param {Part} part
 */
function stampText(root, part) {
  const hash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  return `${process.platform}-${process.arch} ${hash} ${part}\n`
}

/**
 * Why an install is needed. `npm ci` empties node_modules first and the stamp is written last, so that an interrupted
 * install leaves no stamp. An interrupted addition of the tools leaves the stamp of the production part.
 * @param {string} root
 * @param {Part} part
 * @returns {string | undefined} the reason, as text after "Installing …:"; undefined when node_modules has the complete
 *   part from this lockfile for this platform
 */
export function whyInstall(root, part) {
  if (!existsSync(join(root, 'node_modules'))) return 'nothing is installed yet'
  if (!existsSync(stampFile(root))) return 'node_modules was not made by a finished run of this command'
  const [platform, hash, installed] = readFileSync(stampFile(root), 'utf8').trim().split(' ')
  const [wantedPlatform, wantedHash] = stampText(root, part).split(' ')
  if (platform !== wantedPlatform) return `node_modules is from another platform, ${platform}`
  if (hash !== wantedHash) return 'package-lock.json has changed'
  return part === 'tools' && installed !== 'tools' ? 'the test tools are missing' : undefined
}

/**
 * Marks a part of node_modules as complete. The stamp is replaced atomically, so that it is never missing while the service
 * runs.
 * @param {string} root
 * @param {Part} part
 */
export function stampInstall(root, part) {
  const file = stampFile(root)
  writeFileSync(`${file}.new`, stampText(root, part))
  renameSync(`${file}.new`, file)
}
