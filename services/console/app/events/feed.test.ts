import { afterEach, beforeAll, expect, test, vi } from 'vitest'

const END = '2026-01-02T00:00:00.000Z'

/** The modules read the address of the page when they are loaded. */
let createFeed: typeof import('./feed.ts').createFeed
beforeAll(async () => {
  vi.stubGlobal('document', { baseURI: 'http://service/console/' })
  createFeed = (await import('./feed.ts')).createFeed
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const line = (id: string, time = '2026-01-01T12:00:00Z') =>
  `${JSON.stringify({ id, time, position: `after-${id}` })}\n`

/** Connects a feed to responses, each the lines of one connection. @returns the queries of the connections */
function connected(search: Parameters<typeof createFeed>[0], responses: readonly (string | Response)[]) {
  vi.useFakeTimers({ now: Date.parse('2026-06-01T00:00:00Z') })
  const asked: URLSearchParams[] = []
  const waiting = responses.values()
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => {})
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(new URL(url, 'http://service').searchParams)
    const { value } = waiting.next()
    if (value === undefined) throw new TypeError('no connection')
    return value instanceof Response
      ? value
      : new Response(value, { headers: { 'content-type': 'application/x-ndjson' } })
  })
  const feed = createFeed(search)
  return { feed, asked, disconnect: feed.connect() }
}

test('after a lost connection the feed continues after its last event, and keeps what it has', async () => {
  const { feed, asked, disconnect } = connected({ since: 'all' }, [line('a'), line('b')])
  await vi.advanceTimersByTimeAsync(2_000)
  disconnect()
  expect(asked.map(query => query.get('after')).slice(0, 3)).toEqual([null, 'after-a', 'after-b'])
  expect(feed.state().shown.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(feed.state().connection.kind).toBe('lost')
})

test.for([
  ['7d', ['', '', '']],
  ['all', ['a', 'ab', 'abc']],
] as const)(
  'earlier events of %s are shown together or, from the oldest on, at once; later ones as they come',
  async ([since, whileReading]) => {
    const streams = [1, 2].map(() => new TransformStream<Uint8Array, Uint8Array>())
    const [earlier, later] = streams.map(({ writable }) => writable.getWriter())
    const write = (writer: typeof earlier, text: string) => writer?.write(new TextEncoder().encode(text))
    const responses = streams.map(({ readable }) => new Response(readable))
    const { feed, asked, disconnect } = connected({ since }, responses)
    const shown = () => feed.state().shown.map(({ id }) => id)
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      await write(earlier, line(id))
      await vi.advanceTimersByTimeAsync(20_000)
      expect(shown().join('')).toBe(whileReading[index])
      expect(feed.state().connection.kind).toBe('reading')
      expect(feed.state()).toMatchObject({ received: id.charCodeAt(0) - 96, reached: '2026-01-01T12:00:00Z' })
    }
    await earlier?.close()
    await vi.advanceTimersByTimeAsync(0)
    expect(feed.state().connection.kind).toBe('live')
    expect(shown()).toEqual(['a', 'b', 'c'])
    await write(later, line('new'))
    await vi.advanceTimersByTimeAsync(200)
    expect(shown()).toEqual(['a', 'b', 'c', 'new'])
    expect(asked.map(query => [query.get('follow'), query.get('after')])).toEqual([
      [null, null],
      ['true', 'after-c'],
    ])
    disconnect()
  },
)

test('a feed from the oldest event shows the first 500, and the next ones on demand', async () => {
  const events = Array.from({ length: 1_001 }, (_, index) => line(String(index)))
  const { feed, disconnect } = connected({ since: 'all' }, [events.join('')])
  const ends = () => [feed.state().shown[0]?.id, feed.state().shown.at(-1)?.id]
  await vi.advanceTimersByTimeAsync(200)
  expect(ends()).toEqual(['0', '499'])
  feed.show(500)
  expect(ends()).toEqual(['0', '999'])
  expect(feed.state()).toMatchObject({ waiting: 1, paused: true, removed: 0 })
  disconnect()
})

test('a past period is complete only when nothing is left after its last event', async () => {
  const { feed, asked, disconnect } = connected({ from: '2026-01-01T00:00:00Z', to: END }, [
    line('a'),
    line('b'),
    '',
  ])
  await vi.advanceTimersByTimeAsync(2_000)
  disconnect()
  expect(asked).toHaveLength(3)
  expect(asked.every(query => query.get('to') === END && !query.has('follow'))).toBe(true)
  expect(feed.state().connection.kind).toBe('ended')
  expect(feed.state().shown.map(({ id }) => id)).toEqual(['a', 'b'])
})

test('a feed that is refused asks only once; one that is told to wait asks after that time', async () => {
  const refused = connected({}, [Response.json({ code: 'position-gone', title: 'Gone' }, { status: 410 })])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(refused.asked).toHaveLength(1)
  expect(refused.feed.state().connection.kind).toBe('refused')

  const busy = Response.json(
    { code: 'unavailable', title: 'Busy' },
    { status: 503, headers: { 'retry-after': '20' } },
  )
  const told = connected({}, [busy])
  await vi.advanceTimersByTimeAsync(19_000)
  expect(told.asked).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2_000)
  told.disconnect()
  expect(told.asked.length).toBeGreaterThan(1)
})
