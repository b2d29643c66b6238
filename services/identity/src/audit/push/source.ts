import { pointOf } from '@gantry/audit'
import { exportedText } from '../export/export.ts'
import type { AuditSource } from '../export/source.ts'
import type { PushedRange } from './auditpush.ts'
import type { PushSource } from './push.ts'

/** The largest object: a part is in memory while it is sent. One record more than the limit fits. */
const MOST_RECORDS = 10_000
const MOST_CHARACTERS = 8_000_000
const PAGE = 250

/** Makes the parts of the audit log that are pushed. Each is an export of its own. */
export const pushSource = (source: AuditSource, upToDate: () => Promise<void>): PushSource => ({
  upToDate,
  async next(after) {
    let range: PushedRange | undefined
    let count = 0
    let characters = 0
    while (count < MOST_RECORDS && characters < MOST_CHARACTERS) {
      const records = await source.stored(after + count, PAGE)
      for (const doc of records) {
        const { number, position } = pointOf(doc)
        range = { first: range?.first ?? { number, position }, last: { number, position } }
        count++
        characters += doc.record.length
        if (characters >= MOST_CHARACTERS) break
      }
      if (records.length < PAGE) break
    }
    return range
  },
  async export({ first, last }, at) {
    const from = await source.pointAt(first.number - 1)
    if (!from) throw new Error(`the audit log has no record ${first.number - 1}`)
    const request = { format: 'ndjson' as const, filter: {}, from, to: last.number, now: () => at }
    const parts: Buffer[] = []
    for await (const text of exportedText(source, request)) parts.push(Buffer.from(text))
    return Buffer.concat(parts)
  },
})
