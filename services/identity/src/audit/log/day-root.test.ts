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
      id: '2026-11-20',
      day: '2026-11-20',
      through: 3,
      root: expect.objectContaining({
        count: 3,
        last: { number: 3, position: '0000000000000004' },
        log: expect.objectContaining({ events: 4 }),
      }),
      signature: expect.stringMatching(/^[\w-]{86}$/),
    },
  ])
  const { content } = listAuditProofs.responses[200].schema.shape
  for (const { root, signature } of documents as DayRootDocument[])
    expect(() => content.parse([{ ...root, signature, valid: true }])).not.toThrow()
})
