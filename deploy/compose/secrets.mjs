// Makes the secrets of a first start, into the folder of its first argument; on later starts they stay as they are. What
// the environment names is taken instead, at the first start; another one later is refused, since it would not fit the
// data. Each further argument, FOLDER:FILE,FILE, is a folder that copies of some of them go to, and which they are.
import { hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '.', ...copies] = process.argv.slice(2)
const keyOf = text => Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
const isKey = text => keyOf(text).length === 32
const RULE_OF_KEYS = 'must be 32 bytes, in base64 or hexadecimal'

const secrets = [
  {
    setting: 'ENCRYPTION_KEY',
    file: 'encryption-key',
    make: () => randomBytes(32).toString('base64'),
    fits: isKey,
    rule: RULE_OF_KEYS,
  },
  {
    setting: 'PRINCIPAL_KEY',
    file: 'principal-key',
    // The one that the processes use where it is not set, so that an upgrade changes nothing.
    make: () => derived(keyOf(keptIn('encryption-key') ?? '')).toString('base64'),
    fits: isKey,
    rule: RULE_OF_KEYS,
  },
  {
    setting: 'GANTRY_ADMIN_PASSWORD',
    file: 'admin-password',
    make: () => randomBytes(15).toString('base64url'),
    fits: password => password.length >= 12,
    rule: 'must have 12 characters at least',
  },
]

for (const { setting, file, make, fits, rule } of secrets) {
  const given = process.env[setting]
  const kept = keptIn(file)
  if (kept !== undefined) {
    if (given && given !== kept)
      refuse(`${setting}: the first start was with another one, which is kept in ${file}; leave it out`)
  } else if (given && !fits(given)) refuse(`${setting}: ${rule}`)
  else {
    write(join(folder, file), given || make())
    console.log(`${setting}: ${given ? 'taken from the environment' : 'generated'}, kept in ${file}`)
  }
}

for (const copy of copies) {
  const [to = '', files = ''] = copy.split(':')
  for (const file of files.split(',')) write(join(to, file), keptIn(file) ?? '')
}

function derived(key) {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'principals that the gateway passes on', 32))
}

function keptIn(file) {
  const path = join(folder, file)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function write(path, secret) {
  // What a run that was killed has left may not be written to.
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, secret, { mode: 0o400, flush: true })
  renameSync(`${path}.new`, path)
}

/** Ends the process: nothing is made or copied afterwards. @param {string} line */
function refuse(line) {
  console.error(line)
  process.exit(1)
}
