import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Principal, requests, SCOPES, subjects } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import type { Bus } from '@gantry/messaging'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { bearer, type EdgeHost, grace, hostEdge } from '../testing/edge-host.ts'
import { eventMessage, eventMessages, LOG, readFeed, readingThrough, serveFeed } from '../testing/feed.ts'

let host: EdgeHost
let url: string
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T09:30:00.000Z') })
  host = await hostEdge()
  url = await host.app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(async () => {
  await Promise.all(apps.splice(0).map(app => app.close()))
  await host.close()
  vi.useRealTimers()
})

const event = (number: number, type = 'API_CREATED') => eventMessage(number, { type })
const publish = (...numbers: number[]) => host.bus.publish(numbers.map(number => event(number)))

const apps: FastifyInstance[] = []
/** Serves the events of a bus to grace. */
async function serve(options: Parameters<typeof serveFeed>[0]) {
  const { app, url } = await serveFeed(options)
  apps.push(app)
  return url
}
const open = (query = '?follow=true', headers: Record<string, string> = {}, base = url) =>
  readFeed(base, query, { ...bearer('grace-1'), ...headers })

describe('The event stream', () => {
  test('has pages of a limited length, because a reader that does not read keeps one in memory', async () => {
    await host.bus.publish(eventMessages(1, 12, 240_000))
    const page = async (after = '') => {
      const answer = await fetch(`${url}/events?size=1000${after}`, { headers: bearer('grace-1') })
      return (await answer.json()) as { content: unknown[]; position: string }
    }
    const { content, position } = await page()
    expect(content).toHaveLength(9)
    expect((await page(`&after=${position}`)).content).toHaveLength(3)
  })

  test('contains public events only', async () => {
    await host.bus.publish([
      { id: 'a', subject: 'events.catalog.BROKEN', data: { secret: 'no event' } },
      { id: 'b', subject: subjects.deploymentReported, data: { job: 'no event' } },
      event(1, 'DEPLOYMENT_REQUESTED'),
    ])
    const stream = await open('')
    await vi.waitFor(() => expect(stream.ended()).toBe('clean'))
    expect(stream.names()).toEqual(['api 1'])
  })

  test('leaves out events whose scope the reader lacks, and those of types of a later release', async () => {
    await host.bus.publish([event(1), event(2, 'USER_CREATED'), event(3, 'OF_A_LATER_RELEASE'), event(4)])
    const numbersFor = async (credential: string) => {
      const stream = await open('', bearer(credential))
      await vi.waitFor(() => expect(stream.ended()).toBe('clean'))
      return stream.numbers()
    }
    expect(await numbersFor('grace-1')).toEqual([1, 4])
    host.identity.principals.set('all', { ...grace, scopes: [...SCOPES] })
    expect(await numbersFor('all')).toEqual([1, 2, 3, 4])
  })

  test('leaves out events after the reader has lost their scope', async () => {
    let reader: Principal = { ...grace, scopes: [...SCOPES] }
    const recheck = vi.fn(async () => reader)
    const base = await serve({ bus: host.bus, admit: async () => reader, recheck, times: { recheck: 10 } })
    await host.bus.publish([event(1, 'USER_CREATED')])
    const stream = await open('?follow=true', {}, base)
    await vi.waitFor(() => expect(stream.numbers()).toEqual([1]))
    reader = grace
    const { length } = recheck.mock.calls
    // The answer to the first of these checks takes effect before the second one begins.
    await vi.waitFor(() => expect(recheck.mock.calls.length).toBeGreaterThan(length + 1))
    await host.bus.publish([event(2, 'USER_UPDATED'), event(3)])
    await vi.waitFor(() => expect(stream.numbers()).toEqual([1, 3]))
  })

  test('has no body for HEAD and ends at once', async () => {
    const answer = await fetch(`${url}/events`, { method: 'HEAD', headers: bearer('grace-1') })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

describe('Server-sent events', () => {
  const accept = 'text/event-stream'

  test('continue after Last-Event-ID, which takes precedence over the query', async () => {
    await publish(1, 2, 3)
    const all = await open('')
    await vi.waitFor(() => expect(all.ended()).toBe('clean'))
    const [first, second, third] = all.positions()
    const stream = await open(`?after=${first}`, { accept, 'last-event-id': second ?? '' })
    const ids = () => [...stream.text().matchAll(/^id: (\S+)$/gm)].map(([, id]) => id)
    await vi.waitFor(() => expect(ids()).toEqual([third]))
    expect((await open('', { accept, 'last-event-id': 'x' })).answer.status).toBe(400)
  })
})

describe('Where retention has removed events', () => {
  const old = async () => {
    await host.bus.publish([{ id: 'report', subject: subjects.deploymentReported, data: null }])
    vi.setSystemTime(Date.parse('2026-11-21T10:00:00.000Z'))
    await publish(3)
    const removing = sqliteBus({ path: join(host.folder, 'messages.db'), retentionMs: 60_000 })
    await vi.waitFor(async () => expect(await host.bus.removedThrough([subjects.allEvents])).toBe(2))
    await removing.close()
  }

  test('a position before removed events is refused, and the refusal names the oldest valid one', async () => {
    await publish(1, 2)
    const all = await open('')
    await vi.waitFor(() => expect(all.ended()).toBe('clean'))
    const [first, second] = all.positions()
    await old()
    host.peers.answer(requests.logHead, async () => ({ position: '~', log: LOG }))
    const refused = async (headers: Record<string, string>, query = '') => {
      const { answer, text } = await open(query, headers)
      await vi.waitFor(() => expect(text()).toContain('}'))
      expect(answer.status).toBe(410)
      return JSON.parse(text())
    }
    const problem = await refused({}, `?after=${first}`)
    expect(problem).toMatchObject({
      code: 'position-gone',
      oldestPosition: expect.any(String),
      detail: 'events after this position have been removed because of their age: read after=oldestPosition',
    })
    const { oldestPosition } = problem
    expect(await refused({ accept: 'text/event-stream', 'last-event-id': first ?? '' })).toMatchObject({
      oldestPosition,
    })
    const head = { method: 'HEAD', headers: bearer('grace-1') }
    expect((await fetch(`${url}/events?after=${first}`, head)).status).toBe(410)
    for (const query of [`?after=${oldestPosition}`, `?after=${second}`, '']) {
      const stream = await open(query)
      await vi.waitFor(() => expect(stream.ended()).toBe('clean'))
      expect(stream.names()).toEqual(['api 3'])
    }
  })

  test('a stream is broken off when events are removed before its reader has them', async () => {
    await publish(1, 2, 3)
    /** A bus that reports, before the message at a position, that all messages before it were removed. */
    const removing = (before: number) =>
      readingThrough(host.bus, async function* (options) {
        for await (const message of host.bus.read(options)) {
          if (message.sequence === before) options.missed?.({ after: 0, through: before - 1 })
          yield message
        }
      })
    const streamOf = async (bus: Bus, query: string) => {
      const stream = await open(query, {}, await serve({ bus }))
      await vi.waitFor(() => expect(stream.ended()).toBeDefined())
      return stream
    }
    const all = await open('')
    await vi.waitFor(() => expect(all.ended()).toBe('clean'))
    const broken = await streamOf(removing(3), `?after=${all.positions()[0]}`)
    expect(broken.ended()).toBe('broken')
    expect(broken.names()).not.toContain('api 3')
    const fresh = await streamOf(removing(1), '')
    expect(fresh.ended()).toBe('clean')
    expect(fresh.names()).toEqual(['api 1', 'api 2', 'api 3'])
  })
})

describe('An open stream', () => {
  test('ends cleanly when the service stops', async () => {
    await publish(1)
    const stream = await open()
    await vi.waitFor(() => expect(stream.names()).toEqual(['api 1']))
    await host.app.close()
    await vi.waitFor(() => expect(stream.ended()).toBe('clean'))
  })

  test('does not keep the service from stopping when its reader does not read', async () => {
    await host.bus.publish(eventMessages(1, 150, 100_000))
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const headers = `host: gantry.test\r\nauthorization: Bearer grace-1\r\naccept: application/x-ndjson`
    socket.write(`GET /events?follow=true HTTP/1.1\r\n${headers}\r\n\r\n`)
    await once(socket, 'readable')
    const closed = vi.fn()
    host.app.close().then(closed)
    await vi.waitFor(() => expect(closed).toHaveBeenCalled())
    socket.destroy()
  })

  test('reads ahead of its reader by a bounded amount only', async () => {
    const count = 250
    await host.bus.publish(eventMessages(1, count, 100_000))
    let taken = 0
    const counting = readingThrough(host.bus, async function* (options) {
      for await (const message of host.bus.read(options)) {
        taken++
        yield message
      }
    })
    const answer = await fetch(`${await serve({ bus: counting })}/events`, {
      headers: { accept: 'application/x-ndjson' },
    })
    const reader = answer.body?.getReader()
    await reader?.read()
    // Another reader is served completely meanwhile.
    const other = await open('')
    await vi.waitFor(() => expect(other.ended()).toBe('clean'))
    expect(taken).toBeLessThan(count)
    let bytes = 0
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      bytes += next.value.length
    expect(taken).toBe(count)
    expect(bytes).toBeGreaterThan(count * 98_000)
  })

  test('sends heartbeats, so that proxies do not close it', async () => {
    const stream = await open('?follow=true', {}, await serve({ bus: host.bus, times: { heartbeat: 20 } }))
    await vi.waitFor(() => expect(stream.text()).toMatch(/^\n{4,}$/))
    await publish(1)
    await vi.waitFor(() => expect(stream.names()).toEqual(['api 1']))
  })

  test('ends within seconds when its caller may no longer read', async () => {
    const stream = await open()
    host.identity.principals.delete('grace-1')
    await host.bus.broadcast(subjects.principalChanged, { userId: grace.userId })
    await vi.waitFor(() => expect(stream.ended()).toBe('clean'))
    expect((await open()).answer.status).toBe(401)
  })

  test('ends when its credential expires, but stays open while identity is unavailable', async () => {
    const stream = await open()
    host.identity.leave()
    vi.setSystemTime(Date.parse('2026-11-21T10:29:59.999Z'))
    await publish(1)
    await vi.waitFor(() => expect(stream.names()).toEqual(['api 1']))
    host.peers.answer(requests.authenticate, async () => grace)
    vi.setSystemTime(Date.parse('2026-11-21T10:30:00.000Z'))
    await vi.waitFor(() => expect(stream.ended()).toBe('clean'))
  })

  test('ends its read of the bus when its reader disconnects', async () => {
    const ends: AbortSignal[] = []
    const watching = readingThrough(host.bus, options => {
      ends.push(options.signal)
      return host.bus.read(options)
    })
    const stream = await open('?follow=true', {}, await serve({ bus: watching }))
    await vi.waitFor(() => expect(ends.map(({ aborted }) => aborted)).toEqual([false]))
    await stream.leave()
    await vi.waitFor(() => expect(ends.map(({ aborted }) => aborted)).toEqual([true]))
  })
})
