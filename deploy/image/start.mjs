// Entry point of the image. The argument names the service that this process runs.
import { readdirSync } from 'node:fs'

const services = new URL('../../services/', import.meta.url)
const names = readdirSync(services)
const name = process.argv[2]
if (!names.includes(name)) {
  process.stderr.write(`gantry: there is no service ${name}; there are ${names.join(', ')}\n`)
  process.exit(2)
}
await import(new URL(`${name}/src/main.ts`, services).href)
