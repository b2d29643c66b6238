import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PublicEvent, requests } from '@gantry/contracts'
import { sqliteBus } from '@gantry/embedded'
import type { Bus, Message } from '@gantry/messaging'
import { localPeers } from '@gantry/service-runtime'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { eventMessage, LOG, readFeed, serveFeed } from '../testing/feed.ts'
import { feedReader, parsePosition } from './feed-position.ts'

const message = (source: PublicEvent['source'], position: number, part = 1) =>
  eventMessage(position, { source, data: { part } }, part)
const catalog = (...positions: number[]) => positions.map(position => message('catalog', position))
const media = (...positions: number[]) => positions.map(position => message('media', position))

let url: string
/** The bus that the service reads. */
let bus: Bus
let logHead: number
let log: string
let newBus: () => Bus
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-feed-'))
  const buses: Bus[] = []
  newBus = () => {
    buses.push(sqliteBus({ path: join(folder, `messages-${buses.length}.db`) }))
    return buses.at(-1) as Bus
  }
  bus = newBus()
  logHead = 1_000
  log = LOG
  const peers = localPeers()
  peers.answer(requests.logHead, async () => ({ position: String(logHead).padStart(16, '0'), log }))
  const served = await serveFeed({
    bus: new Proxy({} as Bus, { get: (_, name) => Reflect.get(bus, name) }),
    peers,
    times: { heartbeat: 50 },
  })
  url = served.url
  onTestFinished(async () => {
    await served.app.close()
    await Promise.all(buses.map(each => each.close()))
    await rm(folder, { recursive: true })
  })
})

interface Page {
  content: { revision: number; position: string; data: { part: number } }[]
  position: string
}
const ask = async (query = '', headers: Record<string, string> = {}) => {
  const answer = await fetch(`${url}/events${query}`, { headers })
  return { status: answer.status, body: (await answer.json()) as Page & { code?: string } }
}
const page = async (query = '') => {
  const { status, body } = await ask(query)
  expect(body).toMatchObject({ content: expect.anything() })
  expect(status).toBe(200)
  return body
}
const numbers = ({ content }: Page) => content.map(({ revision }) => revision)

const follow = async (after: string) => {
  const follower = await readFeed(url, `?follow=true&after=${after}`)
  onTestFinished(() => follower.leave())
  return { ...follower, last: () => follower.positions().at(-1) ?? '' }
}

test('a position stays valid on a bus that was built again in another order', async () => {
  await bus.publish([...catalog(1), ...media(2), ...catalog(3), ...media(4), ...catalog(5)])
  const all = await page()
  expect(numbers(all)).toEqual([1, 2, 3, 4, 5])
  bus = newBus()
  await bus.publish([...catalog(1, 3, 5, 6), ...media(2, 4, 7)])
  for (const [passed, { position }] of all.content.entries()) {
    const rest = await page(`?after=${position}`)
    expect(numbers(rest).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7].slice(passed + 1))
    expect(numbers(await page(`?after=${rest.position}`))).toEqual([])
  }
})

test('a position stays valid on a bus that was built again with another order before the same message', async () => {
  const user = message('identity', 2)
  await bus.publish([...media(1), ...catalog(3), user])
  const { position } = await page('?size=2')
  bus = newBus()
  await bus.publish([user, ...catalog(3), ...media(1)])
  expect(numbers(await page(`?after=${position}`))).toEqual([2])
})

test('messages that are repeated on the bus are read once', async () => {
  await bus.publish(catalog(1, 2))
  const { position } = await page()
  const follower = await follow(position)
  // The embedded bus refuses a repeated id.
  const again = catalog(1).map(each => ({ ...each, id: `${each.id}-again` }))
  await bus.publish([...again, ...catalog(3)])
  await vi.waitFor(() => expect(follower.numbers()).toEqual([3]))
  expect(numbers(await page())).toEqual([1, 2, 3])
  const [last] = catalog(2)
  const reader = feedReader(parsePosition(position))
  expect(reader.pass({ ...(last as Message), sequence: 3, storedAt: '' })).toBe(false)
})

test('a position between two messages of one event continues with the second', async () => {
  await bus.publish([message('catalog', 1), message('catalog', 1, 2), message('catalog', 2)])
  const [first] = (await page()).content
  const parts = async () =>
    (await page(`?after=${first?.position}`)).content.map(({ revision, data }) => [revision, data.part])
  expect(await parts()).toEqual([
    [1, 2],
    [2, 1],
  ])
  bus = newBus()
  await bus.publish([message('catalog', 1), message('catalog', 1, 2), message('catalog', 2)])
  expect(await parts()).toEqual([
    [1, 2],
    [2, 1],
  ])
})

test('while the bus is built again a page is refused, and a follower waits', async () => {
  await bus.publish([...catalog(1, 2), ...media(3)])
  const { position } = await page()
  bus = newBus()
  await bus.publish(catalog(1))
  expect(await ask(`?after=${position}`)).toMatchObject({ status: 503, body: { code: 'events-incomplete' } })
  const follower = await follow(position)
  await bus.publish([...catalog(2, 4), ...media(3, 5)])
  await vi.waitFor(() => expect(follower.numbers()).toEqual([4, 5]))
  await bus.publish(catalog(6))
  await vi.waitFor(() => expect(follower.numbers()).toEqual([4, 5, 6]))
  expect(numbers(await page(`?after=${follower.last()}`))).toEqual([])
})

test('a follower of the latest events knows what it has passed of a service that is quiet for long', async () => {
  await bus.publish([...media(1), ...catalog(...Array.from({ length: 600 }, (_, index) => index + 2))])
  const { position } = await page(`?after=${(await page('?size=600')).position}`)
  const follower = await follow(position)
  await bus.publish(catalog(700))
  await vi.waitFor(() => expect(follower.numbers()).toEqual([700]))
  bus = newBus()
  await bus.publish([...catalog(700, 701), ...media(1, 702)])
  expect(numbers(await page(`?after=${follower.last()}`))).toEqual([701, 702])
})

test('a position after the last event of the log is refused', async () => {
  await bus.publish(catalog(50))
  const { position } = await page()
  bus = newBus()
  logHead = 49
  expect(await ask(`?after=${position}`)).toMatchObject({ status: 400, body: { code: 'position-ahead' } })
})

test('a position of a log that was replaced is refused, also when the new log has grown past it', async () => {
  await bus.publish(catalog(1, 2, 3))
  const read = await page('?size=2')
  const follower = await follow(read.position)
  await vi.waitFor(() => expect(follower.numbers()).toEqual([3]))
  bus = newBus()
  log = 'log-2'
  const restored = (...positions: number[]) =>
    catalog(...positions).map(each => ({ ...each, headers: { ...each.headers, 'log-identity': log } }))
  await bus.publish(restored(1, 2, 3, 4))
  const refusal = { status: 409, body: { code: 'log-replaced' } }
  expect(await ask(`?after=${read.position}`)).toMatchObject(refusal)
  expect(await ask(`?after=${follower.last()}`)).toMatchObject(refusal)
  expect(numbers(await page(`?after=${(await page('?size=3')).position}`))).toEqual([4])
  // Not 410, because a reader goes on after the oldest position that this problem names.
  const removedThrough = async () => 3
  bus = new Proxy(bus, {
    get: (target, name) => (name === 'removedThrough' ? removedThrough : Reflect.get(target, name)),
  })
  expect(await ask(`?after=${read.position}`)).toMatchObject(refusal)
  expect(await ask(`?after=${follower.last()}`)).toMatchObject(refusal)
})

test('a follower is disconnected by the first message of another log', async () => {
  await bus.publish(catalog(1))
  const follower = await follow((await page()).position)
  await bus.publish(
    catalog(2).map(each => ({ ...each, headers: { ...each.headers, 'log-identity': 'log-2' } })),
  )
  await vi.waitFor(() => expect(follower.ended()).toBe('broken'))
  expect(follower.numbers()).toEqual([])
})

test.each(['WzJd', 'null', 'W10', '!', 'a'.repeat(5_000)])('%.9s is no position', async after => {
  expect(await ask(`?after=${after}`)).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
})

test.each(['', '>', 'a b', 'a.b', 'x\r\nPUB a 0\r\n'])('no service has the name %j', async service => {
  await bus.publish(catalog(1))
  const positions = [
    [1, 0, '', [['catalog', '']], [service]],
    [1, 0, '', [[service, '']], []],
  ]
  for (const position of positions) {
    const after = Buffer.from(JSON.stringify(position)).toString('base64url')
    expect(await ask(`?after=${after}`)).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
  }
})

test('a filtered stream shows where it has arrived when nothing matches', async () => {
  await bus.publish(catalog(1, 2))
  const stream = await readFeed(url, '?type=API_DELETED', { accept: 'text/event-stream' })
  onTestFinished(() => stream.leave())
  const shown = /^id: (\S+)\n\n/m
  await vi.waitFor(() => expect(stream.text()).toMatch(shown))
  const [, position] = shown.exec(stream.text()) ?? []
  await bus.publish(catalog(3))
  expect(numbers(await page(`?after=${position}`))).toEqual([3])
})
