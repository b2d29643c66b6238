import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress } from 'node:zlib'

const FIXTURES = resolve(import.meta.dirname, '../data-folders')
const PACKED = '.br'
const RECORDING = `answers.json${PACKED}`

/** The answer to a GET request. The body is JSON, the lines of NDJSON, the code of a problem, or base64. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** What a release answered about a data folder before it was stopped. */
export interface Recording {
  /** Time of the answers, in ISO 8601. */
  readonly recordedAt: string
  /** Access token that can read APIs. */
  readonly reader: string
  /** Signing secrets by webhook. */
  readonly secrets: Readonly<Record<string, string>>
  /** Answers by path, as the first administrator gets them. */
  readonly answers: Readonly<Record<string, Answer>>
}

export async function answerOf(response: Response): Promise<Answer> {
  const type = response.headers.get('content-type') ?? ''
  const { status } = response
  if (/ndjson/.test(type)) {
    const lines = (await response.text()).split('\n').filter(Boolean)
    return { status, body: lines.map(line => JSON.parse(line)) }
  }
  if (/problem/.test(type)) return { status, body: ((await response.json()) as { code: string }).code }
  if (/json/.test(type)) return { status, body: await response.json() }
  return { status, body: Buffer.from(await response.arrayBuffer()).toString('base64') }
}

/** Stores a data folder and its recording as a fixture. */
export async function packDataFolder(name: string, folder: string, recording: Recording): Promise<void> {
  const fixture = join(FIXTURES, name)
  for (const file of await files(folder)) {
    const packed = `${join(fixture, relative(folder, file))}${PACKED}`
    await mkdir(dirname(packed), { recursive: true })
    await writeFile(packed, await promisify(brotliCompress)(await readFile(file)))
  }
  await writeFile(join(fixture, RECORDING), await promisify(brotliCompress)(JSON.stringify(recording)))
}

/** Copies the data folder of a fixture. */
export async function unpackDataFolder(name: string, folder: string): Promise<Recording> {
  const fixture = join(FIXTURES, name)
  for (const file of await files(fixture)) {
    if (file === join(fixture, RECORDING)) continue
    const target = join(folder, relative(fixture, file).slice(0, -PACKED.length))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, await unpacked(file), { mode: 0o600 })
  }
  return JSON.parse(String(await unpacked(join(fixture, RECORDING))))
}

const unpacked = async (file: string) => promisify(brotliDecompress)(await readFile(file))

async function files(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}
