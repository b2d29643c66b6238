import { type ChainPoint, pointOf, type StoredRecord } from '@gantry/audit'
import type { UserCiphers } from '../../personal-data/user-ciphers.ts'
import { type ExportedRecord, exportedText } from '../export/export.ts'
import type { AuditSource } from '../export/source.ts'
import type { PushedRange } from './auditpush.ts'
import type { PushSource } from './push.ts'

/** Limits of an object, which is in memory while it is sent. It ends with the record that reaches a limit. */
const MOST_RECORDS = 10_000
const MOST_CHARACTERS = 8_000_000
const PAGE = 250

export interface PushSourceOptions {
  source: AuditSource
  upToDate(): Promise<void>
  pseudonyms: UserCiphers['pseudonyms']
}

/**
 * Makes the parts of the audit log that are pushed. Each is an export of its own, with pseudonyms in place of the names of
 * users, because an erasure cannot reach a copy that forbids deletion.
 */
export const pushSource = ({ source, upToDate, pseudonyms }: PushSourceOptions): PushSource => ({
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
    const records = async (after: ChainPoint, limit: number) =>
      Promise.all((await source.records(after, limit)).map(record => withPseudonyms(record, pseudonyms)))
    const request = { format: 'ndjson' as const, filter: {}, from, to: last.number, now: () => at }
    const parts: Buffer[] = []
    for await (const text of exportedText({ ...source, records }, request)) parts.push(Buffer.from(text))
    return Buffer.concat(parts)
  },
})

/**
 * The record with pseudonyms in place of names; without names of erased users. The salt of personal fields is left out too:
 * with it, guessed fields could be compared with the commitment.
 */
async function withPseudonyms(
  { chained, names: { users = [], personal } }: ExportedRecord,
  pseudonyms: UserCiphers['pseudonyms'],
): Promise<ExportedRecord> {
  const usersWithPseudonyms = users.map(async ({ id, ...names }) => {
    const pseudonym = await pseudonyms(id)
    return pseudonym ? [{ id, ...replaced(names, pseudonym) }] : []
  })
  const changedUser = () => (JSON.parse(chained.record) as StoredRecord).resourceId
  const pseudonym = personal && (await pseudonyms(changedUser()))
  return {
    chained,
    names: {
      users: (await Promise.all(usersWithPseudonyms)).flat(),
      ...(pseudonym && {
        pseudonyms: {
          before: personal.before && replaced(personal.before, pseudonym),
          after: personal.after && replaced(personal.after, pseudonym),
        },
      }),
    },
  }
}

/** The fields with a pseudonym in place of each text. */
const replaced = <Fields extends object>(fields: Fields, pseudonym: (text: string) => string) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value === null ? null : pseudonym(`${name} ${value}`),
    ]),
  ) as Fields
