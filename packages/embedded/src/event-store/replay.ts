import { setImmediate } from 'node:timers/promises'
import type { ReadAllOptions, RecordedEvent, SubscriptionItem } from '@gantry/event-sourcing'
import { COLUMNS, categoryOf, decode, type EventFile, encode, type Row, toEvent } from './event-file.ts'

/** Events read per query: a few milliseconds of work, so that a replay does not block the event loop. */
const PAGE = 250
/** Minimum interval of `caughtUp` items, in milliseconds, while all new events are outside of the subscription. */
const OTHERS_EVERY_MS = 100

export async function* readAll(
  file: EventFile,
  { after, streamPrefixes }: ReadAllOptions,
): AsyncGenerator<RecordedEvent> {
  const read = pagesOf(file, streamPrefixes)
  const head = file.head()
  let position = decode(after)
  for (;;) {
    const page = read(position, head)
    for (const row of page) {
      position = row[0]
      yield toEvent(row)
    }
    if (page.length < PAGE) return
    await setImmediate()
  }
}

export async function* subscribe(
  file: EventFile,
  { after, streamPrefixes, signal }: ReadAllOptions & { signal: AbortSignal },
): AsyncGenerator<SubscriptionItem> {
  const { changes } = file
  const read = pagesOf(file, streamPrefixes)
  const ended = () => signal.aborted || file.closed
  let position = decode(after)
  let reported: number | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  while (!ended()) {
    const seen = changes.count()
    const head = file.head()
    let delivered = false
    for (;;) {
      const page = read(position, head)
      for (const row of page) {
        if (ended()) return
        position = row[0]
        delivered = true
        yield { kind: 'event', event: toEvent(row) }
      }
      if (page.length < PAGE) break
      await setImmediate()
      if (ended()) return
    }
    if (ended()) return
    position = Math.max(position, head)
    if (position !== reported && (delivered || performance.now() - reportedAt >= OTHERS_EVERY_MS)) {
      reported = position
      reportedAt = performance.now()
      yield { kind: 'caughtUp', position: encode(position) }
    }
    await changes.after(seen, signal, position === reported ? undefined : OTHERS_EVERY_MS)
  }
}

/** Reads events between two positions page by page, without a long transaction. */
function pagesOf(file: EventFile, prefixes: string[] | undefined): (after: number, until: number) => Row[] {
  const arms = selections(prefixes)
  if (arms.length === 0) return () => []
  const selects = arms.map(
    arm => `SELECT ${COLUMNS} FROM events WHERE position > ? AND position <= ?${arm.and}`,
  )
  const rows = file.prepareRows(`${selects.join(' UNION ALL ')} ORDER BY position LIMIT ${PAGE}`)
  return (after, until) => rows(...arms.flatMap(arm => [after, until, ...arm.values]))
}

interface Selection {
  and: string
  values: string[]
}

/** One selection per prefix, without overlaps, so that SQLite merges them in order of position. */
function selections(prefixes: string[] | undefined): Selection[] {
  if (!prefixes) return [{ and: '', values: [] }]
  const distinct = [...new Set(prefixes)]
  const widest = distinct.filter(
    prefix => !distinct.some(other => other !== prefix && prefix.startsWith(other)),
  )
  return widest.map(prefix => {
    const begins = { and: ' AND substr(stream, 1, length(?)) = ?', values: [prefix, prefix] }
    const category = categoryOf(prefix)
    if (category === '') return begins
    if (category === prefix) return { and: ' AND category = ?', values: [category] }
    return { and: ` AND category = ?${begins.and}`, values: [category, ...begins.values] }
  })
}
