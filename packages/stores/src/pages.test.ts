import { expect, test } from 'vitest'
import type { Query } from './collection.ts'
import { idsOf, pagesOf } from './pages.ts'

interface Job {
  id: string
  since: string
}

/** Lists jobs by their time, in a range. */
const listOf = (jobs: Set<Job>) => ({
  async list({ where, skip = 0, limit }: Query) {
    const { gt = '', lt = '~' } = (where?.since ?? {}) as { gt?: string; lt?: string }
    const found = [...jobs].filter(({ since }) => since > gt && since < lt)
    const sorted = found.toSorted((a, b) => (a.since < b.since ? -1 : 1))
    return sorted.slice(skip, skip + limit).map(doc => ({ doc, revision: 0 }))
  },
})

const jobs = ['1', '2', '3', '4', '5', '6'].map(since => ({ id: `job ${since}`, since }))

test('pages have every document of a range once, although those of earlier pages are removed', async () => {
  const left = new Set(jobs)
  const pages: string[] = []
  const where = { since: { gt: '1', lt: '6' } }
  for await (const page of pagesOf(listOf(left), { where, by: 'since', size: 2 })) {
    pages.push(page.map(({ since }) => since).join())
    for (const job of page) left.delete(job)
  }
  expect(pages).toEqual(['2,3', '4,5', ''])
})

test('ids are read beyond the size of a page', async () => {
  const many = Array.from({ length: 2_500 }, (_, n) => ({ id: `job ${n}`, since: String(10_000 + n) }))
  expect(await idsOf(listOf(new Set(many)), {})).toEqual(new Set(many.map(({ id }) => id)))
})
