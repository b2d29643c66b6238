// Generates missing secrets in the folder of the first argument; existing ones do not change. At the first start a secret
// can be given in the environment. A different one later is refused, because it would not match the data, except a list of
// keys ID:KEY, with which ENCRYPTION_KEY is rotated: the services refuse a list that lacks a key in use. Each further
// argument, FOLDER:FILE,FILE, names a folder and the secrets to copy into it.
import { hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '.', ...copies] = process.argv.slice(2)
const keyOf = text => Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
const isKey = text => keyOf(text).length === 32
const isKeyWithId = text => /^[\w-]{1,32}:/.test(text) && isKey(text.replace(/^[\w-]*:/, ''))
const areKeysWithIds = text => text.split(',').every(part => isKeyWithId(part.trim()))
const RULE_OF_KEYS = 'must be 32 bytes, in base64 or hexadecimal'

const secrets = [
  {
    setting: 'ENCRYPTION_KEY',
    file: 'encryption-key',
    make: () => randomBytes(32).toString('base64'),
    fits: text => isKey(text) || areKeysWithIds(text),
    replaces: areKeysWithIds,
    rule: RULE_OF_KEYS,
  },
  {
    setting: 'PRINCIPAL_KEY',
    file: 'principal-key',
    // The key that the processes derive when it is not set, so that an upgrade does not change it.
    make: () => derived(keyOf(firstOf(keptIn('encryption-key') ?? ''))).toString('base64'),
    fits: isKey,
    rule: RULE_OF_KEYS,
  },
  {
    setting: 'GANTRY_ADMIN_PASSWORD',
    file: 'admin-password',
    make: () => randomBytes(15).toString('base64url'),
    fits: password => password.length >= 12,
    rule: 'must have at least 12 characters',
  },
  {
    setting: 'MONGO_PASSWORD',
    file: 'mongo-password',
    make: () => randomBytes(32).toString('hex'),
    // It is also the key of the replica set, and a part of the URL.
    fits: password => /^[\da-z]{12,1024}$/i.test(password),
    rule: 'must have 12 to 1024 letters and digits',
  },
  {
    setting: 'READ_MODEL_URL',
    file: 'read-model-url',
    make: () =>
      `mongodb://gantry:${keptIn('mongo-password')}@mongodb:27017/gantry?replicaSet=rs0&authSource=admin`,
    fits: url => /^mongodb(\+srv)?:/.test(url),
    rule: 'must be the URL of a MongoDB',
  },
]

const firstOf = text =>
  text
    .split(',')[0]
    .trim()
    .replace(/^[\w-]*:/, '')

for (const { setting, file, make, fits, rule, replaces = () => false } of secrets) {
  const given = process.env[setting]
  const kept = keptIn(file)
  if (kept !== undefined && !(given && given !== kept && replaces(given))) {
    if (given && given !== kept)
      refuse(`${setting}: differs from the value of the first start, stored in ${file}; remove it`)
  } else if (given && !fits(given)) refuse(`${setting}: ${rule}`)
  else {
    write(join(folder, file), given || make())
    console.log(`${setting}: ${given ? 'taken from the environment' : 'generated'}, stored in ${file}`)
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
  // A file that a killed run has left is read-only and cannot be overwritten.
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, secret, { mode: 0o400, flush: true })
  renameSync(`${path}.new`, path)
}

/** Exits before anything else is generated or copied. @param {string} line */
function refuse(line) {
  console.error(line)
  process.exit(1)
}
