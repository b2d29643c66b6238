import { queryOptions } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'

export type Proofs = Schemas['AuditProofs']
export type DayRoot = Schemas['AuditDayRoot']

/** Roots that are read at once. */
const ROOTS = 50

/** A page of day roots, the newest first, with the signed head of the chain. */
export const proofsPage = (page: number) =>
  queryOptions({
    queryKey: ['audit', 'proofs', page],
    queryFn: ({ signal }) => answer(client.listAuditProofs({ page, size: ROOTS }, { signal })),
  })

/** What proves a record: the signed root of a day, or until there is one, the signed head of the chain. */
export type Coverage =
  | { kind: 'root'; root: DayRoot }
  | { kind: 'head'; head: NonNullable<Proofs['head']> }
  | { kind: 'problem'; problem: string }

const outsideRoots = ({ head, problem }: Proofs): Coverage =>
  head ? { kind: 'head', head } : { kind: 'problem', problem: problem ?? 'the record has no signed day' }

/** What proves the record with a number. The pages of roots are searched by bisection. */
export const coverageOf = (number: number) =>
  queryOptions({
    queryKey: ['audit', 'coverage', number],
    async queryFn(): Promise<Coverage> {
      const newest = await queries.fetchQuery(proofsPage(1))
      if (number > (newest.content[0]?.after.number ?? 0)) return outsideRoots(newest)
      for (let low = 1, high = newest.totalPages; low <= high; ) {
        const middle = Math.floor((low + high) / 2)
        const { content } = await queries.fetchQuery(proofsPage(middle))
        const root = content.find(({ before, after }) => before.number < number && number <= after.number)
        if (root) return { kind: 'root', root }
        if (number > (content[0]?.after.number ?? 0)) high = middle - 1
        else low = middle + 1
      }
      return outsideRoots(newest)
    },
  })
