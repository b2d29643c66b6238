import { join } from 'node:path'
import { DAY_ROOTS, type DayRootDocument, dayRootIn } from '@gantry/audit'
import { listAuditProofs } from '@gantry/contracts'
import { frozenStreams } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '../../frozen')

test('the day roots of the frozen stream have the documents of today', () => {
  const documents = frozenStreams(folder, DAY_ROOTS)
    .streams.flat()
    .map(event => dayRootIn(event)?.doc)
  expect(documents).toEqual([
    {
      id: '2026-11-22',
      day: '2026-11-22',
      through: 41,
      root: expect.objectContaining({ count: 41, last: { number: 41, position: '0000000000000057' } }),
      signature: expect.stringMatching(/^[\w-]{86}$/),
    },
  ])
  const { content } = listAuditProofs.responses[200].schema.shape
  for (const { root, signature } of documents as DayRootDocument[])
    expect(() => content.parse([{ ...root, signature, valid: true }])).not.toThrow()
})
