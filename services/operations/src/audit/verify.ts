import { readFile } from 'node:fs/promises'
import {
  type AuditKey,
  type ChainPoint,
  parseAuditKeys,
  type Trailer,
  type Verification,
  verifyExport,
} from '@gantry/audit'
import { CommandFailed, fileOf, harmless, notice, parsed, print, WrongUsage } from '../command.ts'
import { progressBar } from '../progress.ts'
import { chunksOf, headIn } from './proof-files.ts'
import { verifyInstallation } from './verify-log.ts'

export const USAGE = `usage: npm run audit -- verify FILE... [--against FILE] [--keys FILE] [--require-keys]
       npm run audit -- verify --log [FILE...] [--keys FILE] [--require-keys]

Checks that exports of the audit log, in any format, are complete and unchanged, and names the first broken or missing
record otherwise. Several files are checked as consecutive parts of one log, in any order of the arguments.

  --against FILE     an older export, or a head from GET /auditLog/proofs: its end has to be in the files, so that a cut off
                     end is found
  --log              reads the event log itself, with the settings of the service, and names the first event that differs from
                     the signed roots, the head of the audit log, and the given exports and heads. "npm start" must be
                     stopped; services may run
  --keys FILE        trusted audit keys, from /.well-known/audit-keys.json of the service; without them the keys in the
                     export are trusted, which a forger could have replaced, or those in the log that ENCRYPTION_KEY opens
  --require-keys     fails without --keys

exit codes: 0 verified, 1 a file cannot be read or keys are missing, 2 wrong usage, 3 not verified`

const NOT_VERIFIED = 3

/** Needs no service. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { paths, against, ...request } = requestIn(args, environment)
  if (request.requireKeys && request.keysPath === undefined)
    throw new CommandFailed('--require-keys: name the trusted keys with --keys FILE')
  const keys = request.keysPath === undefined ? undefined : await keysIn(request.keysPath)
  if (request.log) return verifyInstallation(against ? [...paths, against] : paths, keys, environment)
  const end = against === undefined ? undefined : await endOf(against, keys)
  const parts: Part[] = []
  for (const path of paths) {
    const { broken, count, omitted, trailer, warnings, chainHashAt } = await verify(path, keys, end?.number)
    for (const warning of warnings) notice(`warning: ${path}: ${harmless(warning)}`)
    if (broken) return report(path, broken, count)
    parts.push({ path, count, omitted, trailer, chainHashAt })
  }
  return (await refusal(parts, end)) ? NOT_VERIFIED : 0
}

/** A verified export. */
interface Part {
  path: string
  count: number
  omitted: number
  trailer: Trailer
  /** The chain hash at the end that the export is compared with. */
  chainHashAt: string | undefined
}

/** @throws WrongUsage */
function requestIn(args: string[], environment: NodeJS.ProcessEnv) {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean', default: false }] as const
  const options = { keys: text, against: text, log: flag, 'require-keys': flag }
  const { values, positionals } = parsed(USAGE, { args, options, allowPositionals: true })
  if (positionals.length === 0 && !values.log) throw new WrongUsage(`takes at least one file\n${USAGE}`)
  return {
    paths: positionals.map(path => fileOf(path, environment)),
    against: values.against === undefined ? undefined : fileOf(values.against, environment),
    keysPath: values.keys === undefined ? undefined : fileOf(values.keys, environment),
    log: values.log,
    requireKeys: values['require-keys'],
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
async function verify(
  path: string,
  keys: readonly AuditKey[] | undefined,
  at?: number,
): Promise<Verification> {
  const bar = progressBar('bytes')
  try {
    return await verifyExport(chunksOf(path, bar), keys, at)
  } finally {
    bar.end()
  }
}

/** The end of an export or a head, which later exports have to contain. @throws CommandFailed when the file proves none */
async function endOf(path: string, keys: readonly AuditKey[] | undefined): Promise<ChainPoint> {
  const head = await headIn(path, keys)
  if (head) return head
  const { broken, trailer } = await verify(path, keys)
  if (broken)
    throw new CommandFailed(`${path} proves nothing: line ${broken.line}: ${harmless(broken.reason)}`)
  return trailer.after
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

/**
 * Refuses parts if one does not begin where its predecessor ends, or if none contains the older head.
 * @returns whether it refuses them
 */
async function refusal(parts: readonly Part[], older: ChainPoint | undefined): Promise<boolean> {
  const ordered = parts.toSorted(
    (one, other) => begin(one).number - begin(other).number || end(one).number - end(other).number,
  )
  for (const [index, part] of ordered.entries()) {
    const previous = ordered[index - 1]
    if (previous && end(previous).chainHash !== begin(part).chainHash) {
      await print(`${part.path}: not verified: ${gap(previous, part)}`)
      return true
    }
  }
  const differs = older && lacks(ordered, older)
  if (differs) {
    await print(`${ordered.at(-1)?.path}: not verified: ${differs}`)
    return true
  }
  for (const part of ordered) await print(`${part.path}: verified: ${described(part)}`)
  return false
}

/** Why the parts do not contain an older end; undefined when they do. */
function lacks(parts: readonly Part[], { number, chainHash }: ChainPoint): string | undefined {
  const found = parts.flatMap(({ chainHashAt }) => chainHashAt ?? [])
  if (found.includes(chainHash)) return undefined
  const [first, last] = [parts[0], parts.at(-1)]
  if (found.length > 0) return `the records up to number ${number} differ from those that were there before`
  return last && end(last).number < number
    ? `it ends with record ${end(last).number}: the records up to number ${number} were cut off`
    : `it begins after record ${first && begin(first).number}: what was there before ends with ${number}`
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
