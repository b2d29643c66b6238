import { createHash } from 'node:crypto'
import {
  type EventMetadata,
  type EventStore,
  type RecordedEvent,
  reservations,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import { inMemoryLog, storyMetadata } from '@gantry/event-sourcing/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { event } from './support.ts'

let eventStore: EventStore
let clock: number
beforeEach(() => {
  eventStore = inMemoryLog().connect()
  clock = Date.parse('2026-11-21T10:00:00.000Z')
})

/** Holders are streams `thing-{id}`. The last Named event gives the name; a Gone event ends the holder. */
const names = (graceMs = 60_000) =>
  reservations({
    eventStore,
    category: 'thing',
    takenCode: 'api-name-taken',
    graceMs,
    now: () => new Date(clock),
    async holding(holder) {
      const events = await eventStore.readStream(`thing-${holder}`)
      const isKnown = ({ type }: RecordedEvent) => type === 'Named' || type === 'Gone'
      const last = events.findLast(isKnown)
      const unknown = events.filter(event => !isKnown(event)).map(({ type }) => `${type}@1`)
      return {
        name: last?.type === 'Named' ? String(last.data.name) : undefined,
        revision: events.length - 1,
        ...(unknown.length > 0 && { unknown }),
      }
    },
  })
const take = (holder: string, name: string, expected: number, type = 'Named') =>
  eventStore.append(`thing-${holder}`, [event(type, { name })], expected)

describe('a name', () => {
  test('that is new is reserved without a read', async () => {
    const readStream = async () => Promise.reject(new Error('looked'))
    eventStore = { ...eventStore, readStream }
    await names().reserve('x', 'a', -1, storyMetadata)
  })

  test('is refused while another holds it', async () => {
    await names().reserve('x', 'a', -1, storyMetadata)
    await take('a', 'x', -1)
    await expect(names().reserve('x', 'b', -1, storyMetadata)).rejects.toMatchObject({
      code: 'api-name-taken',
      details: { name: 'x' },
    })
  })
  test('is free again when its holder took another one or ended', async () => {
    await names().reserve('x', 'a', -1, storyMetadata)
    await take('a', 'x', -1)
    await take('a', 'y', 0)
    await names().reserve('x', 'b', -1, storyMetadata)
    await take('b', 'x', -1)
    await take('b', '', 0, 'Gone')
    await names().reserve('x', 'c', -1, storyMetadata)
  })
  test('is not free while its holder has an event that is unknown to this release', async () => {
    await names().reserve('x', 'a', -1, storyMetadata)
    await take('a', 'x', -1, 'NamedByNextRelease')
    await expect(names().reserve('x', 'b', -1, storyMetadata)).rejects.toMatchObject({
      code: 'api-name-taken',
    })
  })
  test.each([
    ['that is no claim of a name', event('Foreign', {})],
    ['that has no metadata', { ...event('NameClaimed', {}), metadata: {} as EventMetadata }],
  ])('is refused, with the stream, after an event %s', async (_, foreign) => {
    await names().reserve('x', 'a', -1, storyMetadata)
    await take('a', 'x', -1)
    const stream = `thingname-${createHash('sha256').update('x').digest('hex')}`
    await eventStore.append(stream, [foreign], 0)
    await expect(names().reserve('x', 'b', -1, storyMetadata)).rejects.toMatchObject({
      code: 'stream-quarantined',
      event: { stream, revision: 1 },
    })
  })
  test('can be reserved again for the same append without an effect', async () => {
    await names().reserve('x', 'a', -1, storyMetadata)
    await names().reserve('x', 'a', -1, storyMetadata)
    const { value } = await eventStore.readAll({ after: '' })[Symbol.asyncIterator]().next()
    expect(value).toMatchObject({ type: 'NameClaimed', revision: 0 })
  })
  test('is given to one of two concurrent reservations', async () => {
    const attempts = ['a', 'b'].map(async holder => {
      await names(0).reserve('x', holder, -1, storyMetadata)
      await take(holder, 'x', -1)
      return holder
    })
    const settled = await Promise.allSettled(attempts)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('the reservation of a killed writer', () => {
  test('is taken over after the grace period, and a slow writer then cannot take the name', async () => {
    await names(2_000).reserve('x', 'slow', -1, storyMetadata)
    clock += 2_000
    await names(2_000).reserve('x', 'b', -1, storyMetadata)
    await expect(take('slow', 'x', -1)).rejects.toBeInstanceOf(WrongExpectedRevision)
    await take('b', 'x', -1)
  })
  test('is taken over although the holder has an earlier event that is unknown to this release', async () => {
    await take('slow', 'old', -1, 'NamedByNextRelease')
    await names(0).reserve('x', 'slow', 0, storyMetadata)
    await names(0).reserve('x', 'b', -1, storyMetadata)
    await expect(take('slow', 'x', 0)).rejects.toBeInstanceOf(WrongExpectedRevision)
  })
  test('is taken over equally soon by a replica whose clock is ten minutes behind', async () => {
    await names(200).reserve('x', 'slow', -1, storyMetadata)
    clock -= 600_000
    await names(200).reserve('x', 'b', -1, storyMetadata)
    await expect(take('slow', 'x', -1)).rejects.toBeInstanceOf(WrongExpectedRevision)
  })
  test('is also taken over when it was made for a rename', async () => {
    await names(2_000).reserve('old', 'slow', -1, storyMetadata)
    await take('slow', 'old', -1)
    await names(2_000).reserve('x', 'slow', 0, storyMetadata)
    clock += 2_000
    await names(2_000).reserve('x', 'b', -1, storyMetadata)
    await expect(take('slow', 'x', 0)).rejects.toBeInstanceOf(WrongExpectedRevision)
  })
  test('is not taken over after a stale read of its holder', async () => {
    await names().reserve('old', 'a', -1, storyMetadata)
    await take('a', 'old', -1)
    await names().reserve('x', 'a', 0, storyMetadata)
    await take('a', 'x', 0)
    // A deposed leader answers like this until it knows that it is deposed.
    let stale = 1
    const { readStream } = eventStore
    eventStore = {
      ...eventStore,
      readStream: async (stream, from) =>
        stream === 'thing-a' && stale-- > 0 ? [] : readStream.call(eventStore, stream, from),
    }
    await expect(names(0).reserve('x', 'b', -1, storyMetadata)).rejects.toMatchObject({
      code: 'api-name-taken',
    })
    expect(stale).toBeLessThan(0)
  })
  test('stays with its holder when a late repetition of an earlier reservation of the same holder arrives', async () => {
    await names().reserve('x', 'a', -1, storyMetadata)
    await take('a', 'x', -1)
    await take('a', 'y', 0)
    await names().reserve('x', 'a', 1, storyMetadata)
    await take('a', 'x', 1)
    await names().reserve('x', 'a', 0, storyMetadata)
    const reserved = await eventStore.readStream(
      `thingname-${createHash('sha256').update('x').digest('hex')}`,
    )
    expect(reserved.at(-1)?.data).toMatchObject({ holder: 'a', holderRevision: 1 })
  })
  test('is waited for before it is taken over', async () => {
    await names(300).reserve('x', 'a', -1, storyMetadata)
    const rival = names(300).reserve('x', 'b', -1, storyMetadata)
    await take('a', 'x', -1)
    await expect(rival).rejects.toMatchObject({ code: 'api-name-taken' })
  })
})
