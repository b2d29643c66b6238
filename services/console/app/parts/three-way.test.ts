import { expect, test } from 'vitest'
import { compare, merge, save } from './three-way.ts'

const base = { name: 'a', tags: ['x'], url: '' }
const stale = new Error('stale')
const isStale = (error: unknown) => error === stale

test('a field that one side has changed suggests that side, and one that both have changed suggests neither', () => {
  const mine = { name: 'mine', tags: ['x', 'y'], url: '' }
  const theirs = { name: 'theirs', tags: ['x'], url: '/theirs' }
  expect(compare(base, mine, theirs)).toEqual([
    { field: 'name', suggestion: undefined },
    { field: 'tags', suggestion: 'mine' },
    { field: 'url', suggestion: 'theirs' },
  ])
  const choices = { name: 'mine', url: 'theirs' } as const
  expect(merge(mine, theirs, choices)).toEqual({ name: 'mine', tags: ['x', 'y'], url: '/theirs' })
})

test('the same change on both sides is no difference', () =>
  expect(compare(base, { ...base, tags: ['z'] }, { ...base, tags: ['z'] })).toEqual([]))

/** Saves a form while the stored record is `stored`, with tags that are sent in order. */
async function saved(stored: { draft: typeof base; etag: string }) {
  const sent: string[] = []
  const outcome = await save({
    base: { draft: base, etag: '1' },
    mine: { ...base, name: 'mine' },
    put: async (draft, etag) => {
      sent.push(etag)
      if (etag !== stored.etag) throw stale
      return { draft, etag: 'new' }
    },
    read: async () => stored,
    isStale,
  })
  return { sent, outcome }
}

test('a change of other parts of the record is no conflict: the form is sent again', async () => {
  const { sent, outcome } = await saved({ draft: base, etag: '2' })
  expect(sent).toEqual(['1', '2'])
  expect(outcome.saved).toEqual({ draft: { ...base, name: 'mine' }, etag: 'new' })
})

test('a change of the fields is returned and not overwritten', async () => {
  const theirs = { draft: { ...base, url: '/theirs' }, etag: '2' }
  expect(await saved(theirs)).toEqual({ sent: ['1'], outcome: { theirs } })
})
