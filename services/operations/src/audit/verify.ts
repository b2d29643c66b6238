import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type AuditKey, parseAuditKeys, type Trailer, type Verification, verifyExport } from '@gantry/audit'
import { CommandFailed, WrongUsage } from '../command.ts'
import { fileOf, harmless, notice, print } from '../output.ts'
import { progressBar } from '../progress.ts'

export const USAGE = `usage: npm run audit -- verify FILE... [--keys FILE]

Checks that exports of the audit log, in any format, are complete and unchanged, and names the first broken or missing
record otherwise. Several files are checked as consecutive parts of one log, in any order of the arguments.

  --keys FILE        trusted audit keys, from /.well-known/audit-keys.json of the service; without them the keys in the
                     export are trusted, which a forger could have replaced

exit codes: 0 verified, 1 a file cannot be read, 2 wrong usage, 3 not verified`

const NOT_VERIFIED = 3
const CHUNK = 1_048_576

/** Needs no service. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { paths, keysPath } = requestIn(args, environment)
  const keys = keysPath === undefined ? undefined : await keysIn(keysPath)
  const parts: Part[] = []
  for (const path of paths) {
    const { broken, count, omitted, trailer, warnings } = await verify(path, keys)
    for (const warning of warnings) notice(`warning: ${path}: ${harmless(warning)}`)
    if (broken) return report(path, broken, count)
    parts.push({ path, count, omitted, trailer })
  }
  return connected(parts)
}

/** A verified export. */
interface Part {
  path: string
  count: number
  omitted: number
  trailer: Trailer
}

/** @throws WrongUsage */
function requestIn(args: string[], environment: NodeJS.ProcessEnv) {
  try {
    const options = { keys: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    if (positionals.length === 0) throw new Error('takes at least one file')
    return {
      paths: positionals.map(path => fileOf(path, environment)),
      keysPath: values.keys === undefined ? undefined : fileOf(values.keys, environment),
    }
  } catch (error) {
    throw new WrongUsage(`${(error as Error).message}\n${USAGE}`)
  }
}

/** @throws CommandFailed */
async function keysIn(path: string): Promise<readonly AuditKey[]> {
  try {
    return parseAuditKeys(await readFile(path, 'utf8'))
  } catch (error) {
    throw new CommandFailed(`cannot use the keys in ${path}: ${(error as Error).message}`)
  }
}

/** @throws CommandFailed when the file cannot be read */
async function verify(path: string, keys: readonly AuditKey[] | undefined): Promise<Verification> {
  const bar = progressBar('bytes')
  try {
    const { size } = await stat(path)
    let done = 0
    const chunks = async function* () {
      for await (const chunk of createReadStream(path, { highWaterMark: CHUNK })) {
        yield chunk as Buffer
        done += (chunk as Buffer).length
        bar.show(done / size, done)
      }
    }
    return await verifyExport(chunks(), keys)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new CommandFailed(`cannot read ${path}: ${error.message}`)
  } finally {
    bar.end()
  }
}

async function report(
  path: string,
  { line, number, position, id, reason }: NonNullable<Verification['broken']>,
  count: number,
): Promise<number> {
  const at = [position && `position ${position}`, id && `id ${id}`].filter(Boolean).join(', ')
  await print(
    `${path}: not verified: record ${number}${at && ` (${harmless(at)})`}, line ${line}: ${harmless(reason)}`,
  )
  await print(`${count} records before it`)
  return NOT_VERIFIED
}

/** Checks that each part begins where the one before it ends. */
async function connected(parts: readonly Part[]): Promise<number> {
  const ordered = parts.toSorted(
    (one, other) => begin(one).number - begin(other).number || end(one).number - end(other).number,
  )
  for (const [index, part] of ordered.entries()) {
    const previous = ordered[index - 1]
    if (previous && end(previous).chainHash !== begin(part).chainHash) {
      await print(`${part.path}: not verified: ${gap(previous, part)}`)
      return NOT_VERIFIED
    }
  }
  for (const part of ordered) await print(`${part.path}: verified: ${described(part)}`)
  return 0
}

const begin = ({ trailer }: Part) => trailer.before
const end = ({ trailer }: Part) => trailer.after

function gap(previous: Part, part: Part): string {
  const last = end(previous).number
  const next = begin(part).number + 1
  if (next > last + 1) return `record ${last + 1} is missing: it begins with record ${next}`
  if (next <= last) return `it begins with record ${next}, which is in ${previous.path} already`
  return `record ${next} does not follow record ${last} of ${previous.path}: they are of different logs`
}

function described({ count, omitted, trailer: { filter, before, after, signedAt, kid } }: Part): string {
  const parts = [
    `${count} records`,
    omitted > 0 && `${omitted} left out by the filter ${harmless(JSON.stringify(filter))}`,
    `records ${before.number + 1} to ${after.number}`,
  ]
  return `${parts.filter(Boolean).join(', ')}, signed at ${signedAt} with ${harmless(kid)}`
}
