import { expect, test } from 'vitest'
import { EventBuffer, type FeedEvent } from './buffer.ts'

const fill = (buffer: EventBuffer, count: number, length = 1) => {
  for (let number = 0; number < count; number++) buffer.add({ id: String(number) } as FeedEvent, length)
}

test('the list keeps 5,000 events or 30 million characters, and counts those that it has removed', () => {
  const rows = new EventBuffer(Number.POSITIVE_INFINITY)
  fill(rows, 5_002)
  expect([rows.shown.length, rows.removed, rows.shown[0]?.id]).toEqual([5_000, 2, '2'])
  const long = new EventBuffer(Number.POSITIVE_INFINITY)
  fill(long, 4, 10_000_000)
  expect([long.shown.length, long.removed]).toEqual([3, 1])
})

test('a paused list is full after 2,000 events or 10 million characters', () => {
  for (const [count, length] of [
    [2_000, 1],
    [2, 5_000_000],
  ] as const) {
    const buffer = new EventBuffer(1)
    buffer.pause()
    fill(buffer, count - 1, length)
    expect(buffer.full).toBe(false)
    fill(buffer, 1, length)
    expect(buffer.full).toBe(true)
  }
})
