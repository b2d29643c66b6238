import { type AuditKey, type ProvenPlace, type Verification, verifiedRecords, verifyLog } from '@gantry/audit'
import { positionNumber } from '@gantry/event-sourcing'
import { harmless, notice, print } from '../command.ts'
import { type Installation, onStores } from '../installation.ts'
import { progressBar } from '../progress.ts'
import { chunksOf, headIn } from './proof-files.ts'

const NOT_VERIFIED = 3

/** Verifies the event log of an installation against what it has signed and sealed, and against exports and heads. */
export const verifyInstallation = (
  paths: readonly string[],
  keys: readonly AuditKey[] | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<number> =>
  onStores('audit-verify', environment, async ({ eventStore, readModels, audit }) => {
    if (!keys)
      notice(
        'warning: the keys in the log that ENCRYPTION_KEY opens are trusted: compare them with a copy by --keys',
      )
    const trusted = keys ?? (await audit.keys.own())
    const files = await Promise.all(paths.map(path => provenIn(path, trusted)))
    const proven = [placeOf(await headOf(audit)), ...files.map(({ places }) => places)]
    const last = positionNumber(await eventStore.head())
    const bar = progressBar('events')
    let events = 0
    const progress = ({ position }: { position: string }) =>
      bar.show(positionNumber(position) / last, ++events)
    const verified = await verifyLog({ eventStore, readModels, keys: trusted, proven, progress }).finally(
      bar.end,
    )
    for (const { path, broken } of files) {
      const reason = await broken()
      if (reason) return refuse(`${path}: not verified: ${reason}`)
    }
    const { end, proven: through, problem, warning } = verified
    if (problem) return refuse(`the log: not verified: ${problem}`)
    if (!through) return refuse('the log: not verified: there is no root, head or export that proves it')
    if (warning) notice(`warning: ${warning}: rebuild the read models`)
    const rest = end.events - through.at.events
    if (rest > 0) notice(`warning: the last ${rest} events are proven by nothing`)
    await print(
      `the log: verified: ${through.at.events} events up to position ${through.at.position}, by ${through.by}`,
    )
    return 0
  })

const refuse = (text: string) => print(harmless(text)).then(() => NOT_VERIFIED)

async function headOf({ head }: Installation['audit']): Promise<ProvenPlace | undefined> {
  const found = await head.read()
  return found && { ...found.log, by: 'the head of the audit log' }
}

async function* placeOf(place: ProvenPlace | undefined): AsyncGenerator<ProvenPlace, undefined> {
  if (place) yield place
  return undefined
}

interface ProofFile {
  path: string
  places: AsyncIterator<ProvenPlace>
  /** Reads the file to its end. @returns why it proves nothing; undefined when it is verified */
  broken(): Promise<string | undefined>
}

/** The places that an export or a head proves. */
async function provenIn(path: string, keys: readonly AuditKey[]): Promise<ProofFile> {
  const head = await headIn(path, keys)
  if (head) return { path, places: placeOf({ ...head.log, by: path }), broken: async () => undefined }
  const records = verifiedRecords(chunksOf(path), keys)
  let end: Verification | undefined
  const next = async (): Promise<IteratorResult<ProvenPlace, undefined>> => {
    const { done, value } = await records.next()
    if (!done) {
      const { position, eventHash, logHash: hash } = value
      return { value: { position, eventHash, hash, by: path } }
    }
    end = value
    return { done, value: undefined }
  }
  return {
    path,
    places: { next },
    async broken() {
      while (!end) await next()
      return end.broken && `line ${end.broken.line}: ${end.broken.reason}`
    },
  }
}
