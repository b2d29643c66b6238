import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { EventStoreDBClient, Filter } from '@eventstore/db-client'
import { Subscription } from '@eventstore/db-client/dist/streams/utils/Subscription.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { type FeedItem, feed } from './feed.ts'

/** A response of the server, as the client reads it. */
type Response = { event: number } | { checkpoint: number } | 'confirmation' | 'caughtUp'

let server: PassThrough
let client: EventStoreDBClient
let stop: AbortController
let node: AbortController

beforeEach(() => {
  const opened = new PassThrough({ objectMode: true })
  server = Object.assign(opened, { cancel: () => opened.destroy() })
  stop = new AbortController()
  node = new AbortController()
  client = {
    subscribeToAll: ({ filter }: { filter: Filter }) =>
      new Subscription(
        async () => server as never,
        event => event as never,
        {},
        filter.checkpointReached,
      ),
  } as unknown as EventStoreDBClient
})

const send = (...responses: Response[]) => {
  for (const response of responses) server.write(message(response))
}

const message = (response: Response) => {
  const is = (kind: string) => response === kind || (typeof response === 'object' && kind in response)
  const { event, checkpoint } = response as { event: number; checkpoint: number }
  return {
    hasConfirmation: () => is('confirmation'),
    getConfirmation: () => ({ getSubscriptionId: () => 's1' }),
    hasCaughtUp: () => is('caughtUp'),
    hasEvent: () => is('event'),
    getEvent: () => ({ number: event }),
    hasCheckpoint: () => is('checkpoint'),
    getCheckpoint: () => ({
      getCommitPosition: () => String(checkpoint),
      getPreparePosition: () => '0',
    }),
  }
}

const open = (timeoutMs = 5_000) =>
  feed(client, { from: 'start', filter: {} as Filter, signal: stop.signal, left: node.signal, timeoutMs })

/** An event as its number, a checkpoint as its position, anything else as its kind. */
const brief = (item: FeedItem) => {
  if (item.kind === 'event') return (item.resolved as unknown as { number: number }).number
  return item.kind === 'checkpoint' ? `@${item.position.commit}` : item.kind
}

async function take(bursts: AsyncGenerator<FeedItem[]>, until: (items: unknown[]) => boolean) {
  const items: unknown[] = []
  for await (const burst of bursts) {
    items.push(...burst.map(brief))
    if (until(items)) break
  }
  return items
}

describe('the feed', () => {
  it('yields a checkpoint after the events before it, even to a slow reader', async () => {
    const sent: Response[] = ['confirmation']
    for (let event = 1; event <= 2_000; event++) {
      sent.push({ event })
      if (event % 7 === 0) sent.push({ checkpoint: event })
    }
    send(...sent, 'caughtUp')

    const items: unknown[] = []
    for await (const burst of open()) {
      items.push(...burst.map(brief))
      if (items.includes('caughtUp')) break
      await setImmediate()
    }

    const wanted: unknown[] = []
    for (let event = 1; event <= 2_000; event++) wanted.push(event, ...(event % 7 === 0 ? [`@${event}`] : []))
    expect(items).toEqual([...wanted, 'caughtUp'])
  })

  it('pauses the subscription when the reader is slow', async () => {
    const bursts = open()
    const first = bursts.next()
    send('confirmation', { event: 0 })
    await first
    for (let event = 1; event <= 5_000; event++) send({ event })
    for (let turn = 0; turn < 100; turn++) await setImmediate()

    const { value: burst } = await bursts.next()
    expect(burst?.length).toBeLessThan(1_000)
    await bursts.return()
  })

  it('yields one empty burst during a pause', async () => {
    const bursts = open()
    send('confirmation', { event: 1 })
    expect((await bursts.next()).value?.map(brief)).toEqual([1])
    expect((await bursts.next()).value).toEqual([])

    const waiting = bursts.next()
    send({ event: 2 })
    expect((await waiting).value?.map(brief)).toEqual([2])
    await bursts.return()
  })

  it('yields the items before a failure, then throws', async () => {
    const bursts = open()
    const first = bursts.next()
    send('confirmation', { event: 1 })
    await setImmediate()
    server.emit('error', new Error('the connection is lost'))

    expect((await first).value?.map(brief)).toEqual([1])
    await expect(bursts.next()).rejects.toThrow('the connection is lost')
  })

  it('throws when the server does not confirm in time', async () => {
    await expect(take(open(20), () => false)).rejects.toThrow('no answer within 20 ms')
  })

  it('throws when its node is left, even if the server is silent', async () => {
    const bursts = open()
    send('confirmation')
    const waiting = take(bursts, () => false)
    node.abort(new Error('another node leads'))
    await expect(waiting).rejects.toThrow('another node leads')
    await expect.poll(() => server.destroyed).toBe(true)
  })
})
