import { createInterface } from 'node:readline/promises'
import { Answered, client, logIn } from './client.ts'
import { fill } from './fill.ts'
import { readPublicApis } from './public-apis.ts'

const { BASE_URL, PORT, GANTRY_TOKEN, GANTRY_ADMIN_USERNAME = 'admin', GANTRY_ADMIN_PASSWORD } = process.env
const baseUrl = (BASE_URL ?? `http://localhost:${PORT ?? 8080}`).replace(/\/$/, '')
const live = process.stdout.isTTY === true

function fail(line: string): never {
  process.stderr.write(`demo: ${line}\n`)
  process.exit(1)
}

async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY)
    fail('set GANTRY_ADMIN_PASSWORD (or GANTRY_TOKEN, an access token) to what npm start printed')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const password = await terminal.question(`Password of ${GANTRY_ADMIN_USERNAME} (npm start printed it): `)
  terminal.close()
  return password.trim()
}

/** Reports the progress: on a terminal in one line that is updated, elsewhere in a line per 10 %. */
function progressOf(total: number): (done: number) => void {
  const startedAt = Date.now()
  let tenth = 0
  return done => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0)
    if (live)
      process.stdout.write(`\r${done} of ${total} APIs, ${seconds} s\x1b[K${done === total ? '\n' : ''}`)
    else if (Math.floor((done * 10) / total) > tenth) {
      tenth = Math.floor((done * 10) / total)
      process.stdout.write(`${done} of ${total} APIs, ${seconds} s\n`)
    }
  }
}

try {
  const authorization = GANTRY_TOKEN
    ? `Bearer ${GANTRY_TOKEN}`
    : await logIn(baseUrl, GANTRY_ADMIN_USERNAME, GANTRY_ADMIN_PASSWORD ?? (await askPassword()))
  const apis = readPublicApis()
  process.stdout.write(`Adding ${apis.length} public APIs with versions and images to ${baseUrl}\n`)
  const startedAt = Date.now()
  const { created, updated, unchanged } = await fill(
    client(baseUrl, authorization),
    apis,
    progressOf(apis.length),
  )
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
  process.stdout.write(`${created} created, ${updated} updated, ${unchanged} unchanged, in ${seconds} s\n`)
} catch (error) {
  if (error instanceof Answered) fail(`${baseUrl} answered ${error.message}`)
  const cause = (error as { cause?: { code?: string } }).cause?.code
  if (cause === 'ECONNREFUSED')
    fail(`no service runs at ${baseUrl}: start it with npm start, or set BASE_URL`)
  if (cause !== undefined) fail(`${baseUrl} cannot be reached: ${cause}`)
  throw error
}
