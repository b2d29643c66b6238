import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { gantryClient } from './client.ts'

const event = (position: string) => JSON.stringify({ id: `e-${position}`, position })

/** A stream that sends chunks, and then ends, breaks or stays open. */
function stream(chunks: string[], end: 'ends' | 'breaks' | 'stays open') {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = chunks.shift()
      if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk))
      else if (end === 'ends') controller.close()
      else if (end === 'breaks') controller.error(new TypeError('terminated'))
      else await new Promise(() => {})
    },
  })
}

const refusal = (status: number, code: string) => () =>
  new Response(JSON.stringify({ status, code, title: code, detail: code }), { status })

/** Follows a service that gives one answer after the other. @returns the positions of the events, and the requests */
async function follow(answers: (() => Response)[], count: number, filter = {}) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const asked: string[] = []
  const fetch = async (url: unknown, init?: RequestInit) => {
    asked.push(`${url}`)
    const answer = answers.shift() ?? refusal(500, 'internal-error')
    const response = answer()
    init?.signal?.addEventListener('abort', () => void response.body?.cancel().catch(() => {}))
    return response
  }
  const positions: string[] = []
  const progress: string[] = []
  const stopping = new AbortController()
  const following = (async () => {
    const client = gantryClient({ baseUrl: '', fetch: fetch as typeof globalThis.fetch })
    const onPosition = (position: string) => progress.push(position)
    for await (const { position } of client.followEvents(filter, { signal: stopping.signal, onPosition })) {
      positions.push(position)
      if (positions.length === count) return
    }
  })()
  return { following, positions, progress, asked, stopping }
}

test.for(['ends', 'breaks'] as const)(
  'a follower continues after the last event when the stream %s',
  async end => {
    const { following, positions, asked } = await follow(
      [
        () => new Response(stream(['\n', `${event('1')}\n${event('2')}\n{"id":`], end)),
        refusal(503, 'not-ready'),
        () => new Response(stream([`${event('3')}\n`], 'stays open')),
      ],
      3,
      { type: ['API_CREATED'], after: '0' },
    )
    await vi.runAllTimersAsync()
    await following
    expect(positions).toEqual(['1', '2', '3'])
    expect(asked).toEqual(['0', '2', '2'].map(after => `/events?type=API_CREATED&after=${after}&follow=true`))
  },
)

test('a position without an event is told, and continued from', async () => {
  const { following, progress, asked } = await follow(
    [
      () => new Response(stream(['{"position":"7"}\n'], 'ends')),
      () => new Response(stream([`${event('8')}\n`], 'ends')),
    ],
    1,
  )
  await vi.runAllTimersAsync()
  await following
  expect(progress).toEqual(['7'])
  expect(asked).toEqual(['/events?follow=true', '/events?after=7&follow=true'])
})

test('a silent connection is made again', async () => {
  const broken = () => {
    let cancelled: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        cancelled = controller
      },
    })
    const response = new Response(body)
    // As fetch does when its signal is aborted.
    vi.spyOn(body, 'cancel').mockImplementation(async () =>
      cancelled?.error(new DOMException('', 'AbortError')),
    )
    return response
  }
  const { following, positions } = await follow(
    [broken, () => new Response(stream([`${event('1')}\n`], 'stays open'))],
    1,
  )
  await vi.advanceTimersByTimeAsync(39_000)
  expect(positions).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  await following
  expect(positions).toEqual(['1'])
})

describe('a follower ends', () => {
  test('with the problem when its position is refused', async () => {
    const { following } = await follow([refusal(409, 'log-replaced')], 1)
    await expect(following).rejects.toMatchObject({ code: 'log-replaced' })
  })
  test('with an error when the response is not from the service', async () => {
    const { following } = await follow([() => new Response('<html>\n</html>\n')], 1)
    await expect(following).rejects.toThrow(SyntaxError)
  })
  test('without an error when its signal is aborted', async () => {
    const { following, stopping, asked } = await follow([refusal(500, 'internal-error')], 1)
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    stopping.abort()
    await expect(following).resolves.toBeUndefined()
  })
})
