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
import { sleep } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'
import { Gauge, type Registry } from 'prom-client'
import { CHAIN_START, type ChainPoint } from './chain.ts'
import { DAY_CLOSED, DAY_ROOT_STREAM, rootIn } from './day-root.ts'
import { type AuditDay, auditDays, auditLog } from './log.projection.ts'
import { chainIn } from './log-chain.ts'
import type { AuditKeys } from './ports.ts'
import { type DayRoot, signStatement } from './statements.ts'

export interface ClosedDaysOptions {
  eventStore: Pick<EventStore, 'append' | 'readLast' | 'head'>
  readModels: ReadModels
  projector: Pick<Projector, 'reached'>
  keys: Pick<AuditKeys, 'signer'>
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
/** Time between two comparisons of the audit log with the last signed root. */
const COMPARE_MS = 60_000
/** Time between two reports that a signed root is not that of the audit log. */
const REPORT_MS = 3_600_000

const eventUuid = nameUuids('f1c0a3c4-6a4e-4a3b-9d0e-5c1f2b7a9e10')
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const dayAfter = (day: string) => dayOf(Date.parse(day) + DAY_MS)
const pointOf = ({ number, position, chainHash }: ChainPoint): ChainPoint => ({ number, position, chainHash })

/**
 * Signs the root of each UTC day of recording after the day has ended, and of all days that were missed. Compares the audit
 * log with the last signed root once a minute. Every replica does
 * so, and only one append of a day succeeds. A root covers the records after the previous root up to the last one of its
 * day that is known then. A record that an append of a slow clock adds later belongs to the next root.
 */
export function startClosingDays(options: ClosedDaysOptions): Worker {
  const { now, log } = options
  const compared = chainGauge(options.metrics)
  let closed = ''
  let comparedAt = Number.NEGATIVE_INFINITY
  let reportedAt = Number.NEGATIVE_INFINITY
  return supervise('identity.audit-days', log, async signal => {
    while (!signal.aborted) {
      const yesterday = dayOf(now().getTime() - SETTLE_MS - DAY_MS)
      if (closed < yesterday || performance.now() - comparedAt > COMPARE_MS) {
        const result = await closeDays(options, yesterday)
        comparedAt = performance.now()
        compared(result !== 'differs')
        if (result === 'closed') closed = yesterday
        if (result === 'differs' && performance.now() - reportedAt > REPORT_MS) {
          reportedAt = performance.now()
          log.error(
            {},
            'the audit log differs from the last signed root: no day is signed until it is restored',
          )
        }
      }
      await sleep(POLL_MS, { signal })
    }
  })
}

/** The gauge is absent until the first comparison, so that a start raises no alert. */
function chainGauge(registry: Registry): (valid: boolean) => void {
  let gauge: Gauge | undefined
  return valid => {
    gauge ??= new Gauge({
      name: 'gantry_audit_chain_valid',
      help: '1 while the audit log leads to its last signed root, 0 when it differs; absent until the first comparison',
      registers: [registry],
    })
    gauge.set(valid ? 1 : 0)
  }
}

/**
 * Signs up to 100 days, through one that has ended.
 * @returns 'closed' when none is missing; 'differs' when the audit log does not lead to the last signed root
 */
async function closeDays(
  options: ClosedDaysOptions,
  through: string,
): Promise<'closed' | 'continues' | 'differs'> {
  const { eventStore, readModels, projector } = options
  // The head is read after the day has ended: the chain has all records of the day once it has reached the head.
  if (!(await projector.reached(await eventStore.head(), CATCH_UP_MS))) return 'continues'
  const last = await eventStore.readLast(DAY_ROOT_STREAM)
  const lastRoot = last && rootIn(last).root
  const before = lastRoot?.after ?? CHAIN_START
  if ((await chainOf(readModels).pointAt(before.number))?.chainHash !== before.chainHash) return 'differs'
  const found = await readModels.collection(auditDays).list({
    where: { number: { gt: before.number } },
    sort: [{ field: 'number', direction: 'asc' }],
    limit: MOST_DAYS,
  })
  const days = found.map(({ doc }) => doc)
  const first = lastRoot ? dayAfter(lastRoot.day) : days[0]?.id
  if (first === undefined || first > through) return 'closed'
  const events = await signedDays(options, { first, through, before, days })
  try {
    await eventStore.append(DAY_ROOT_STREAM, events, last?.revision ?? NO_STREAM)
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error
  }
  return 'continues'
}

interface OpenDays {
  first: string
  through: string
  /** The chain at the end of the last signed day. */
  before: ChainPoint
  /** Ends of later days that have records. */
  days: readonly AuditDay[]
}

/** The events for the first of the open days. */
async function signedDays(
  { readModels, keys, now, newId }: ClosedDaysOptions,
  { first, through, before, days }: OpenDays,
): Promise<NewEvent[]> {
  const signer = await keys.signer()
  const at = now().toISOString()
  const requestId = newId()
  const events: NewEvent[] = []
  let start = pointOf(before)
  for (let day = first; day <= through && events.length < MOST_DAYS; day = dayAfter(day)) {
    const after = pointOf(days.findLast(({ id }) => id <= day) ?? start)
    const count = after.number - start.number
    const root: DayRoot = {
      day,
      count,
      first: count === 0 ? null : await placeOf(readModels, start.number + 1),
      last: count === 0 ? null : { number: after.number, position: after.position },
      before: start,
      after,
      kid: signer.kid,
      signedAt: at,
    }
    events.push({
      id: eventUuid(day),
      type: DAY_CLOSED,
      data: { root, signature: signStatement({ root }, signer) },
      metadata: { actor: { id: null, name: 'identity' }, requestId, at },
    })
    start = after
  }
  return events
}

async function placeOf(readModels: ReadModels, number: number) {
  const point = await chainOf(readModels).pointAt(number)
  if (!point) throw new Error(`the audit log has no record ${number}`)
  return { number, position: point.position }
}

const chainOf = (readModels: ReadModels) => chainIn(readModels.collection(auditLog))
