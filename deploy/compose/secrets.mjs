// Makes the secrets of a first start, into the folder of its argument; on later starts they stay as they are. What the
// environment names is taken instead, at the first start; another one later is refused, since it would not fit the data.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2] ?? '.'
const secrets = [
  {
    setting: 'ENCRYPTION_KEY',
    file: 'encryption-key',
    make: () => randomBytes(32).toString('base64'),
    fits: key => Buffer.from(key, /^[0-9a-f]{64}$/i.test(key) ? 'hex' : 'base64').length === 32,
    rule: 'must be 32 bytes, in base64 or hexadecimal',
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
  const path = join(folder, file)
  const given = process.env[setting]
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  if (kept !== undefined) {
    if (given && given !== kept)
      refuse(`${setting}: the first start was with another one, which is kept in ${file}; leave it out`)
  } else if (given && !fits(given)) refuse(`${setting}: ${rule}`)
  else {
    writeFileSync(`${path}.new`, given || make(), { mode: 0o400, flush: true })
    renameSync(`${path}.new`, path)
    console.log(`${setting}: ${given ? 'taken from the environment' : 'generated'}, kept in ${file}`)
  }
}

/** @param {string} line */
function refuse(line) {
  console.error(line)
  process.exitCode = 1
}
