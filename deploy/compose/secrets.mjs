// Makes the secrets of a first start, into the folder of its argument; on later starts they stay as they are. What the
// environment names is taken instead, at the first start; another one later is refused, since it would not fit the data.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2] ?? '.'
const secrets = [
  { setting: 'ENCRYPTION_KEY', file: 'encryption-key', make: () => randomBytes(32).toString('base64') },
  {
    setting: 'GANTRY_ADMIN_PASSWORD',
    file: 'admin-password',
    make: () => randomBytes(15).toString('base64url'),
  },
]

for (const { setting, file, make } of secrets) {
  const path = join(folder, file)
  const given = process.env[setting]
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, given || make(), { mode: 0o400, flush: true })
    renameSync(`${path}.new`, path)
    console.log(`${setting}: ${given ? 'taken from the environment' : 'generated'}, kept in ${file}`)
  } else if (given && given !== readFileSync(path, 'utf8')) {
    console.error(`${setting}: the first start was with another one, which is kept in ${file}; leave it out`)
    process.exitCode = 1
  }
}
