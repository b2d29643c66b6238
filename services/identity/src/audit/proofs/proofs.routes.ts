import {
  type AuditDocument,
  type AuditKeys,
  auditLog,
  CHAIN_START,
  chainIn,
  type DayRootDocument,
  dayRoots,
  pointOf,
  refutes,
  signStatement,
} from '@gantry/audit'
import { type AuditDayRoot, listAuditProofs } from '@gantry/contracts'
import type { Collection, ReadModels } from '@gantry/read-models'
import { type AddRoute, listing, page } from '@gantry/service-kit'

export interface ProofRoutes {
  readModels: ReadModels
  keys: AuditKeys
  upToDate(): Promise<void>
  now(): Date
}

export function proofRoutes(route: AddRoute, { readModels, keys, upToDate, now }: ProofRoutes): void {
  const records = readModels.collection(auditLog)
  route(listAuditProofs, async ({ query }) => {
    await upToDate()
    const { items, total } = await readModels.collection(dayRoots).find(listing(query, {}))
    const roots = items.map(({ doc }) => doc)
    const signer = await keys.signer()
    const head = { ...(await chainIn(records).last()), kid: signer.kid, signedAt: now().toISOString() }
    const signed = { ...head, signature: signStatement({ head }, signer) }
    const shown = await withValidity(roots, records, keys)
    return { status: 200, body: { ...page(shown, total, query), head: signed } }
  })
}

async function withValidity(
  roots: readonly DayRootDocument[],
  records: Collection<AuditDocument>,
  keys: AuditKeys,
): Promise<AuditDayRoot[]> {
  const published = await keys.published()
  const ends = [...new Set(roots.map(({ through }) => through))]
  const found = ends.length ? await records.list({ where: { number: { in: ends } }, limit: ends.length }) : []
  const points = new Map(found.map(({ doc }) => [doc.number, pointOf(doc)]))
  return roots.map(({ root, signature }) => {
    const end = points.get(root.after.number) ?? CHAIN_START
    const leadsThere = end.chainHash === root.after.chainHash && end.position === root.after.position
    const valid = leadsThere && refutes({ root }, signature, published.keys) === undefined
    return { ...root, signature, valid }
  })
}
