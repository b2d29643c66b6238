import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { ConnectionError, type GantryClient, gantryClient, logIn, ProblemError } from '@gantry/client'
import { installData } from '../../../bin/install.mjs'
import { UserError } from '../../../bin/runtime.mjs'
import { DOCUMENTS_PACKAGE, documentsIn, sendDocuments } from './documents.ts'
import { fill } from './fill.ts'
import { type PublicApi, readPublicApis } from './public-apis.ts'

const { BASE_URL, PORT, GANTRY_TOKEN, GANTRY_ADMIN_USERNAME = 'admin', GANTRY_ADMIN_PASSWORD } = process.env
const baseUrl = (BASE_URL ?? `http://localhost:${PORT ?? 8080}`).replace(/\/$/, '')
const USAGE =
  'takes --documents to add the OpenAPI documents of the APIs, or --documents=DIR with PROVIDER[/SERVICE].json'
const live = process.stdout.isTTY === true

const print = (line: string) => process.stdout.write(`${line}\n`)
const secondsSince = (startedAt: number) => ((performance.now() - startedAt) / 1000).toFixed(1)

function fail(line: string): never {
  process.stderr.write(`demo: ${line}\n`)
  process.exit(1)
}

/** The value of `--documents`: undefined without it, and empty for the documents of all public APIs. */
function askedDocuments(): string | undefined {
  const [option, ...others] = process.argv.slice(2)
  if (option === undefined) return undefined
  const match = /^--documents(?:=(.+))?$/.exec(option)
  if (!match || others.length > 0) fail(USAGE)
  return match[1] ?? ''
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
function progressOf(total: number, what: string): (done: number) => void {
  const startedAt = performance.now()
  let tenth = 0
  return done => {
    const line = `${done} of ${total} ${what}, ${Math.floor(Number(secondsSince(startedAt)))} s`
    if (live) process.stdout.write(`\r${line}\x1b[K${done === total ? '\n' : ''}`)
    else if (Math.floor((done * 10) / total) > tenth) {
      tenth = Math.floor((done * 10) / total)
      print(line)
    }
  }
}

/** @param asked a folder; empty for the package */
async function addDocuments(gantry: GantryClient, apis: readonly PublicApi[], asked: string): Promise<void> {
  const root = resolve(import.meta.dirname, '../../..')
  const folder = asked
    ? resolve(process.env.INIT_CWD ?? '.', asked)
    : join(await installData(root, DOCUMENTS_PACKAGE), 'api')
  const files = documentsIn(folder)
  if (files.length === 0) fail(`there are no documents in ${folder}`)
  const startedAt = performance.now()
  const progress = progressOf(files.length, 'documents')
  const { sent, unchanged, refused, failed } = await sendDocuments(gantry, apis, { folder, files }, progress)
  for (const reason of refused) print(`refused: ${reason}`)
  for (const reason of failed) print(`not sent: ${reason}`)
  const counts = `${sent} sent, ${unchanged} unchanged, ${refused.length} refused, ${failed.length} not sent`
  print(`${counts}, in ${secondsSince(startedAt)} s`)
  if (failed.length > 0) process.exitCode = 1
}

const documents = askedDocuments()
try {
  const username = GANTRY_ADMIN_USERNAME
  const token =
    GANTRY_TOKEN ??
    (await logIn({ baseUrl, username, password: GANTRY_ADMIN_PASSWORD ?? (await askPassword()) }))
  const gantry = gantryClient({ baseUrl, token, retries: 7 })
  const apis = readPublicApis()
  print(`Adding ${apis.length} public APIs with versions and images to ${baseUrl}`)
  const startedAt = performance.now()
  const { created, updated, unchanged } = await fill(gantry, apis, progressOf(apis.length, 'APIs'))
  print(`${created} created, ${updated} updated, ${unchanged} unchanged, in ${secondsSince(startedAt)} s`)
  if (documents !== undefined) await addDocuments(gantry, apis, documents)
} catch (error) {
  if (error instanceof ProblemError) fail(`${baseUrl} answered ${error.message}`)
  if (error instanceof UserError) fail([error.message, error.advice].filter(Boolean).join('\n'))
  if (error instanceof ConnectionError)
    fail(`no service can be reached: ${error.message}\nstart it with npm start, or set BASE_URL`)
  throw error
}
