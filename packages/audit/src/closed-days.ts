import {
  type EventStore,
  type Log,
  type NewEvent,
  NO_STREAM,
  nameUuids,
  type Projector,
  supervise,
  type Worker,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { ReadModels } from '@gantry/stores'
import { Gauge, type Registry } from 'prom-client'
import { CHAIN_START, type ChainEnd, type ChainPoint, LOG_START } from './chain.ts'
import { type AuditCheck, leadsTo } from './check.ts'
import { DAY_CLOSED, DAY_ROOT_STREAM, rootIn } from './day-root.ts'
import type { AuditHead } from './head.ts'
import { type AuditDay, auditDays } from './log.projection.ts'
import { chainIn } from './log-chain.ts'
import type { AuditKeys } from './ports.ts'
import { type DayRoot, signStatement } from './statements.ts'

export interface ClosedDaysOptions {
  eventStore: Pick<EventStore, 'append' | 'readLast' | 'head'>
  readModels: ReadModels
  projector: Pick<Projector, 'reached'>
  signing: { keys: Pick<AuditKeys, 'signer'>; check: AuditCheck; head: AuditHead }
  now(): Date
  newId(): string
  log: Log
  metrics: Registry
}

const DAY_MS = 86_400_000
/** Time after midnight in which the day is not closed yet: appends end, and clocks of stores differ a little. */
const SETTLE_MS = 5_000
const POLL_MS = 1_000
const CATCH_UP_MS = 10_000
/** Days that are signed in one append. */
const MOST_DAYS = 100
/** Time between two checks of the audit log, and the number of records that one check compares. */
const CHECK_MS = 60_000
const RECORDS_AT_ONCE = 1_000
/** Time between two reports of a problem. */
const REPORT_MS = 3_600_000

const eventUuid = nameUuids('f1c0a3c4-6a4e-4a3b-9d0e-5c1f2b7a9e10')
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const dayAfter = (day: string) => dayOf(Date.parse(day) + DAY_MS)

/** `problem` says why no day is signed; `isClosed` whether no ended day is left. */
type Closing = { problem?: string; isClosed?: boolean }

/**
 * Signs the root of each UTC day of recording after the day has ended, and of all days that were missed. Checks the audit log
 * once a minute, and compares some records of the read model with the chain. Every replica does so, and only one append of a
 * day succeeds. A root covers what follows the previous root up to the last event of its day that is known then. An event
 * that an append of a slow clock adds later belongs to the next root.
 */
export function startClosingDays(options: ClosedDaysOptions): Worker {
  const { now } = options
  const report = reporting(options)
  let closed = ''
  let checkedAt = Number.NEGATIVE_INFINITY
  let compared = CHAIN_START
  return supervise('identity.audit-days', options.log, async signal => {
    while (!signal.aborted) {
      const yesterday = dayOf(now().getTime() - SETTLE_MS - DAY_MS)
      if (closed < yesterday || performance.now() - checkedAt > CHECK_MS) {
        const closing = await closeDays(options, yesterday)
        const records = await compareRecords(options, compared)
        compared = records.reached
        checkedAt = performance.now()
        if (closing) report(closing.problem ?? records.problem)
        if (closing?.isClosed) closed = yesterday
      }
      await sleep(POLL_MS, { signal })
    }
  })
}

/** The gauge is absent until the first check, so that a start raises no alert. */
function reporting({ metrics, log }: ClosedDaysOptions): (problem: string | undefined) => void {
  let gauge: Gauge | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  return problem => {
    gauge ??= new Gauge({
      name: 'gantry_audit_chain_valid',
      help: '1 while the audit log leads to its head and its last signed root, 0 when it differs; absent until the first check',
      registers: [metrics],
    })
    gauge.set(problem === undefined ? 1 : 0)
    if (problem === undefined || performance.now() - reportedAt < REPORT_MS) return
    reportedAt = performance.now()
    log.error({ problem }, `the audit log is not valid: ${problem}`)
  }
}

/** Compares the next records after a place. After the last record it begins again at the first. */
async function compareRecords({ readModels, signing }: ClosedDaysOptions, from: ChainPoint) {
  const last = (await chainIn(readModels).end()).record.number
  const to = Math.min(last, from.number + RECORDS_AT_ONCE)
  const { reached, problem } = await signing.check.records(from, to)
  return { reached: problem === undefined && to === last ? CHAIN_START : reached, problem }
}

/** Signs up to 100 days, through one that has ended. @returns undefined when the read models lack events of the log */
async function closeDays(options: ClosedDaysOptions, through: string): Promise<Closing | undefined> {
  const { eventStore, readModels, projector, signing } = options
  // The head is read after the day has ended: the chain has all events of the day once it has reached the head.
  if (!(await projector.reached(await eventStore.head(), CATCH_UP_MS))) return undefined
  const problem = await signing.check.problem()
  if (problem) return { problem }
  const last = await eventStore.readLast(DAY_ROOT_STREAM)
  const lastRoot = last && rootIn(last).root
  const head = (await signing.head.read()) ?? (await beginHead(options, lastRoot))
  const before = { record: lastRoot?.after ?? CHAIN_START, log: lastRoot?.log ?? LOG_START }
  const found = await readModels.collection(auditDays).list({
    where: { events: { gt: before.log.events } },
    sort: [{ field: 'events', direction: 'asc' }],
    limit: MOST_DAYS,
  })
  const days = found.map(({ doc }) => doc)
  const first = lastRoot ? dayAfter(lastRoot.day) : days[0]?.id
  if (first === undefined || first > through) return { isClosed: true }
  const roots = await openRoots(options, { first, through, before, days })
  // The next batch renews the head.
  if ((roots.at(-1)?.log ?? before.log).events > head.log.events) return {}
  const doubt = await doubtOf(options, { before, roots, head })
  if (doubt) return { problem: doubt }
  const events = await signed(options, roots)
  try {
    await eventStore.append(DAY_ROOT_STREAM, events, last?.revision ?? NO_STREAM)
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error
  }
  return {}
}

/** Without a head, the read models are new or were made again. */
async function beginHead(
  { readModels, signing, log }: ClosedDaysOptions,
  lastRoot: DayRoot | undefined,
): Promise<ChainEnd> {
  const end = await chainIn(readModels).end()
  if (lastRoot)
    log.warn(
      {},
      `the audit log has lost its head: nothing proves the changes since the root of ${lastRoot.day}`,
    )
  await signing.head.save(end)
  return end
}

type OpenRoot = Omit<DayRoot, 'kid' | 'signedAt'>

interface OpenDays {
  first: string
  through: string
  /** The end of the last signed day. */
  before: ChainEnd
  /** Ends of later days that have events. */
  days: readonly AuditDay[]
}

/** The roots of the first of the open days. */
async function openRoots(
  { readModels }: ClosedDaysOptions,
  { first, through, before, days }: OpenDays,
): Promise<OpenRoot[]> {
  const roots: OpenRoot[] = []
  let start = before
  for (let day = first; day <= through && roots.length < MOST_DAYS; day = dayAfter(day)) {
    const { record: after, log } = days.findLast(({ id }) => id <= day) ?? start
    const count = after.number - start.record.number
    const begin = await chainIn(readModels).pointAt(start.record.number + 1)
    roots.push({
      day,
      count,
      first: count > 0 && begin ? { number: begin.number, position: begin.position } : null,
      last: count > 0 ? { number: after.number, position: after.position } : null,
      before: start.record,
      after,
      log,
    })
    start = { record: after, log }
  }
  return roots
}

/**
 * Why the read models do not prove these roots. From the last signed root to the head, each link has to follow from the
 * one before.
 */
async function doubtOf(
  { readModels, signing }: ClosedDaysOptions,
  { before, roots, head }: { before: ChainEnd; roots: readonly OpenRoot[]; head: ChainEnd },
): Promise<string | undefined> {
  const chain = chainIn(readModels)
  const { reached, problem } = await signing.check.records(before.record, head.record.number)
  if (problem) return problem
  const lead = await Promise.all(roots.map(root => leadsTo(chain, root)))
  const isProven =
    lead.every(Boolean) &&
    reached.chainHash === head.record.chainHash &&
    (await chain.leads(before.log, head.log))
  return isProven ? undefined : 'the read model of the audit log does not lead to the head'
}

/** The events with the signed roots. */
async function signed(
  { signing, now, newId }: ClosedDaysOptions,
  roots: readonly OpenRoot[],
): Promise<NewEvent[]> {
  const signer = await signing.keys.signer()
  const at = now().toISOString()
  const metadata = { actor: { id: null, name: 'identity' }, requestId: newId(), at }
  return roots.map(open => {
    const root: DayRoot = { ...open, kid: signer.kid, signedAt: at }
    const data = { root, signature: signStatement({ root }, signer) }
    return { id: eventUuid(root.day), type: DAY_CLOSED, data, metadata }
  })
}
