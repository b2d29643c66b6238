import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param {string} root */
const stampFile = root => join(root, 'node_modules/.gantry-installed')

/**
 * What a finished install of this lockfile on this platform is stamped with.
 * @param {string} root the folder of package-lock.json
 */
function stampText(root) {
  const hash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  return `${process.platform}-${process.arch} ${hash}\n`
}

/**
 * Why an install is needed, in words that follow "Installing …:", or undefined when node_modules was made whole from
 * this lockfile on this platform. npm empties node_modules first and the stamp is written last, so an install cut
 * short has none.
 * @param {string} root
 * @returns {string | undefined}
 */
export function whyInstall(root) {
  if (!existsSync(join(root, 'node_modules'))) return 'nothing is installed yet'
  if (!existsSync(stampFile(root))) return 'node_modules was not made by a finished run of this command'
  const [platform, hash] = readFileSync(stampFile(root), 'utf8').split(' ')
  const [wantedPlatform, wantedHash] = stampText(root).split(' ')
  if (platform !== wantedPlatform) return `node_modules is from another platform, ${platform}`
  if (hash !== wantedHash) return 'package-lock.json has changed'
  return undefined
}

/**
 * Marks node_modules as whole.
 * @param {string} root
 */
export function stampInstall(root) {
  writeFileSync(stampFile(root), stampText(root))
}
