import {
  type AuditCheck,
  type AuditKey,
  type AuditKeys,
  chainIn,
  type DayRootDocument,
  dayRoots,
  leadsTo,
  refutes,
  signStatement,
} from '@gantry/audit'
import { type AuditDayRoot, listAuditProofs } from '@gantry/contracts'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { ReadModels } from '@gantry/stores'

export interface ProofRoutes {
  readModels: ReadModels
  audit: { keys: AuditKeys; check: AuditCheck; upToDate(): Promise<void> }
  now(): Date
}

export function proofRoutes(
  route: AddRoute,
  { readModels, audit: { keys, check, upToDate }, now }: ProofRoutes,
): void {
  const chain = chainIn(readModels)

  const signedHead = async () => {
    const signer = await keys.signer()
    const { record, log } = await chain.end()
    const head = { ...record, log, kid: signer.kid, signedAt: now().toISOString() }
    return { ...head, signature: signStatement({ head }, signer) }
  }

  const shown = async (
    { root, signature }: DayRootDocument,
    own: readonly AuditKey[],
  ): Promise<AuditDayRoot> => {
    const isSigned = refutes({ root }, signature, own) === undefined
    return { ...root, signature, valid: isSigned && (await leadsTo(chain, root)) }
  }

  route(listAuditProofs, async ({ query }) => {
    await upToDate()
    const { items, total } = await readModels.collection(dayRoots).find(listing(query, {}))
    const own = await keys.own()
    const roots = await Promise.all(items.map(({ doc }) => shown(doc, own)))
    const problem = (await check.problem()) ?? null
    const head = problem === null ? await signedHead() : null
    return { status: 200, body: { ...page(roots, total, query), head, problem } }
  })
}
