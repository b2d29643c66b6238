import { randomUUID } from 'node:crypto'
import {
  aggregate,
  type DomainCommand,
  type EventStore,
  type HeldStream,
  heldStreams,
  type Log,
  listHeld,
  type NewEvent,
  Projector,
  type ProjectorOptions,
  projectorId,
  type RecordedEvent,
  requestRetry,
} from '@gantry/event-sourcing'
import { DocumentTooLarge, type ReadModels } from '@gantry/stores'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  add,
  behind,
  double,
  event,
  eventually,
  items,
  type ListCommand,
  type ListEvent,
  type ListState,
  listDecider,
  type NextListCommand,
  type NextListEvent,
  nextListDecider,
  projectList,
  reachesHead,
  ready,
  rebuild,
  remove,
  useStores,
} from './support.ts'

const NAME = 'test.projector'
const ID = projectorId({ name: NAME, collections: [items] })
const errors: { details: Record<string, unknown>; message: string }[] = []
const log: Log = {
  info() {},
  warn() {},
  error: (details, message) => void errors.push({ details: details as Record<string, unknown>, message }),
}

const stores = useStores()
beforeEach(() => {
  errors.length = 0
})

const projectorOn = (readModels: ReadModels, more: Partial<ProjectorOptions> = {}) =>
  new Projector({
    name: NAME,
    eventStore: stores.eventStore,
    readModels,
    collections: [items],
    holder: randomUUID(),
    log,
    ...more,
  })
/** This release. Events of the item `broken` throw when they are folded. */
function release({
  broken,
  eventStore = stores.eventStore,
  readModels = stores.readModels,
}: {
  broken?: string
  eventStore?: EventStore
  readModels?: ReadModels
} = {}) {
  const projector = projectorOn(readModels, { eventStore })
  const unknown: RecordedEvent[] = []
  const lists = aggregate<ListState, ListCommand, ListEvent>({
    eventStore,
    category: 'list',
    decider: {
      ...listDecider,
      evolve(state, event, revision, actor) {
        if (event.data.item === broken) throw new TypeError('this item cannot be folded')
        return listDecider.evolve(state, event, revision, actor)
      },
    },
    view: { projector, project: projectList },
    unknownEvent: event => unknown.push(event),
  })
  return {
    unknown,
    run: (id: string, command: ListCommand) => lists.execute(id, command),
    load: lists.load,
    start: () => stores.started(projector),
  }
}

/** The next release, which knows one more event type and writes version 2 of another. */
function nextRelease({ readModels = stores.readModels }: { readModels?: ReadModels } = {}) {
  const projector = projectorOn(readModels)
  const lists = aggregate<ListState, NextListCommand, NextListEvent>({
    eventStore: stores.eventStore,
    category: 'list',
    decider: nextListDecider,
    view: { projector, project: projectList },
  })
  return {
    run: (id: string, command: NextListCommand) => lists.execute(id, command),
    load: lists.load,
    start: () => stores.started(projector),
  }
}

const documents = async (readModels = stores.readModels) =>
  Object.fromEntries(
    (
      await readModels.collection(items).list({ limit: 100, sort: [{ field: 'amount', direction: 'asc' }] })
    ).map(({ doc }) => [doc.id, doc.amount]),
  )
const heldNow = async () => {
  const streams: HeldStream[] = []
  for await (const stream of listHeld(heldStreams(NAME), stores.readModels)) streams.push(stream)
  return streams
}
const reachedHead = (projector: Projector) => reachesHead(projector, stores)

/** The documents that a new installation of the next release makes from the same log. */
async function rebuilt() {
  const readModels = stores.anew()
  await reachedHead(nextRelease({ readModels }).start())
  return documents(readModels)
}

const append = (stream: string, type: string, data: NewEvent['data'], expected: number, metadata = {}) =>
  stores.eventStore.append(stream, [event(type, data, metadata)], expected)

describe('an event of an unknown type', () => {
  test('does not change the state, is counted, and blocks neither the projector nor commands', async () => {
    const one = release()
    await one.run('a', add('v1', 3))
    await append('list-a', 'ItemPainted', { item: 'v1', colour: 'red' }, 0)
    const projector = release().start()
    await reachedHead(projector)
    await ready(projector)
    expect(await one.run('a', add('v2', 4))).toMatchObject({ revision: 2, unknown: ['ItemPainted@1'] })
    expect((await one.load('a')).state.items).toEqual(
      new Map([
        ['v1', 3],
        ['v2', 4],
      ]),
    )
    expect(one.unknown.map(({ type }) => type)).toEqual(['ItemPainted'])
    expect(await documents()).toEqual({ v1: 3, v2: 4 })
  })

  test('of a known type in a newer schema version is unknown', async () => {
    const one = release()
    await append('list-a', 'ItemAdded', { item: 'v1', amount: 3, times: 2 }, -1, { schemaVersion: 2 })
    expect(await one.load('a')).toMatchObject({
      state: { items: new Map() },
      revision: 0,
      unknown: ['ItemAdded@2'],
    })
    expect(one.unknown).toHaveLength(1)
  })

  test('makes the projector mark a stream that its own process has projected', async () => {
    const one = release({ eventStore: behind(stores.eventStore) })
    await one.run('a', add('v1', 3))
    const projector = one.start()
    await ready(projector)
    await append('list-b', 'ItemAdded', { item: 'w1', amount: 3, times: 2 }, -1, { schemaVersion: 2 })
    // A refusal projects the whole stream before the projector reaches it.
    await expect(one.run('b', remove('w1'))).rejects.toMatchObject({ code: 'not-found' })
    await reachedHead(projector)
    expect(await heldNow()).toMatchObject([{ id: 'list-b', status: 'INCOMPLETE', unknown: ['ItemAdded@2'] }])
  })

  test('makes the projector mark the stream as incomplete, until a release knows the event', async () => {
    const next = nextRelease()
    await next.run('a', add('v1', 3))
    await next.run('b', add('w1', 5))
    await next.run('a', double('v1'))
    const one = release()
    await one.run('a', add('v2', 7))
    const old = one.start()
    await reachedHead(old)
    expect(await heldNow()).toMatchObject([
      { id: 'list-a', status: 'INCOMPLETE', unknown: ['ItemAdded@2', 'ItemDoubled@1'] },
      { id: 'list-b', status: 'INCOMPLETE', unknown: ['ItemAdded@2'] },
    ])
    await old.stop()
    const newer = nextRelease().start()
    await eventually(async () => expect(await heldNow()).toEqual([]))
    await reachedHead(newer)
    expect(await documents()).toEqual({ v1: 60, v2: 7, w1: 50 })
    expect(await documents()).toEqual(await rebuilt())
  })
})

describe('a document of an incomplete state', () => {
  test('is replaced at the same revision by a release that knows the event, and never in the other direction', async () => {
    const [one, next] = [release(), nextRelease()]
    await next.run('a', add('v1', 1))
    await next.run('a', double('v1'))
    // This release does not know the first event of v1, and writes the document without it.
    await one.run('a', add('v1', 2))
    const before = release()
    const newest = next.start()
    await reachedHead(newest)
    await next.run('a', double('v1'))
    expect(await documents()).toEqual({ v1: 4 })

    // A rebuild by this release must not remove documents that the next one has written at the same revision.
    await newest.stop()
    const rebuilding = before.start()
    await rebuild(NAME, stores.readModels)
    await reachedHead(rebuilding)
    expect(await documents()).toEqual({ v1: 4 })
  })
})

describe('an event that throws while it is folded', () => {
  test('quarantines only its stream: documents stay, commands are refused, other streams continue', async () => {
    const healthy = release()
    await healthy.run('a', add('v1', 1))
    await healthy.run('b', add('w1', 1))
    await healthy.run('a', add('bad', 2))
    await healthy.run('b', add('w2', 2))
    await stores.readModels.drop(items)

    const one = release({ broken: 'bad' })
    const projector = one.start()
    await reachedHead(projector)
    await ready(projector)
    expect(await documents()).toEqual({ v1: 1, w1: 1, w2: 2 })
    await expect(one.run('a', add('v3'))).rejects.toMatchObject({ code: 'stream-quarantined' })
    await one.run('b', add('w3', 3))
    await reachedHead(projector)
    expect(await documents()).toEqual({ v1: 1, w1: 1, w2: 2, w3: 3 })
    const [stored] = await stores.eventStore.readStream('list-a', 1)
    expect(await heldNow()).toEqual([
      {
        id: 'list-a',
        status: 'QUARANTINED',
        event: stored?.id,
        type: 'ItemAdded',
        revision: 1,
        position: stored?.position,
        reason: 'TypeError: this item cannot be folded',
        unknown: [],
      },
    ])
    expect(errors).toMatchObject([
      {
        details: {
          stream: 'list-a',
          position: stored?.position,
          reason: 'TypeError: this item cannot be folded',
        },
        message: 'a stream is quarantined: an event cannot be processed',
      },
    ])
  })

  test('keeps the existing documents of the stream', async () => {
    const healthy = release()
    await healthy.run('a', add('v1', 1))
    const projector = healthy.start()
    await reachedHead(projector)
    await projector.stop()
    await append('list-a', 'ItemAdded', { item: 'bad', amount: 1 }, 0)
    await reachedHead(release({ broken: 'bad' }).start())
    expect(await heldNow()).toHaveLength(1)
    expect(await documents()).toEqual({ v1: 1 })
  })

  test('leaves the documents of the stream after a rebuild as they were before the event', async () => {
    const healthy = release()
    await healthy.run('a', add('v1', 1))
    await append('list-a', 'ItemAdded', { item: 'bad', amount: 1 }, 0)
    await healthy.run('b', add('w1', 2))
    await reachedHead(release({ broken: 'bad' }).start())
    await rebuild(NAME, stores.readModels)
    expect(await documents()).toEqual({ v1: 1, w1: 2 })
    expect(await heldNow()).toMatchObject([{ id: 'list-a', status: 'QUARANTINED', revision: 1 }])
  })

  test('is retried on request; a stream that still throws stays in quarantine, and is reported once', async () => {
    await append('list-a', 'ItemAdded', { item: 'bad', amount: 1 }, -1)
    await reachedHead(release({ broken: 'bad' }).start())
    const done = await requestRetry(NAME, stores.readModels, { id: randomUUID() })
    await eventually(async () => expect(await done()).toBe(true))
    expect(await heldNow()).toHaveLength(1)
    expect(errors).toHaveLength(1)
  })

  test('is released at the start of a release that can fold it, with all documents of its stream', async () => {
    const healthy = release()
    await healthy.run('a', add('v1', 1))
    await healthy.run('a', add('bad', 2))
    await healthy.run('a', add('v3', 3))
    await stores.readModels.drop(items)
    const broken = release({ broken: 'bad' }).start()
    await reachedHead(broken)
    expect(await documents()).toEqual({ v1: 1 })
    await broken.stop()
    const mended = release()
    await reachedHead(mended.start())
    await eventually(async () => expect(await heldNow()).toEqual([]))
    expect(await documents()).toEqual({ v1: 1, bad: 2, v3: 3 })
    await mended.run('a', add('v4', 4))
    expect(await documents()).toMatchObject({ v4: 4 })
  })

  test('leads to a document that the store cannot hold: the stream is quarantined, others continue', async () => {
    for (const [id, item] of [
      ['a', 'huge'],
      ['b', 'w1'],
    ] as const)
      await append(`list-${id}`, 'ItemAdded', { item, amount: 1 }, -1)
    const limited: ReadModels = {
      ...stores.readModels,
      async write(writes, checkpoint) {
        const fits = writes.filter(({ id }) => id !== 'huge')
        if (fits.length === writes.length) return stores.readModels.write(writes, checkpoint)
        await stores.readModels.write(fits)
        throw new DocumentTooLarge(items.name, 'huge', { bytes: 20, most: 10 })
      },
    }
    await reachedHead(release({ readModels: limited }).start())
    expect(await documents()).toEqual({ w1: 1 })
    const quarantined = [
      {
        id: 'list-a',
        status: 'QUARANTINED',
        reason: 'DocumentTooLarge: test.items: the document huge has 20 bytes; the store holds at most 10',
      },
    ]
    // The projector tries the stream again at its start: until the store refuses the document, the record is gone.
    await eventually(async () => expect(await heldNow()).toMatchObject(quarantined))
  })
})

describe('an upcaster', () => {
  test('upgrades older events to the newest version before they are folded', async () => {
    await append('list-a', 'ItemAdded', { item: 'v1', amount: 3 }, -1)
    const next = nextRelease()
    await next.run('a', add('v2', 3))
    expect((await next.load('a')).state.items).toEqual(
      new Map([
        ['v1', 3],
        ['v2', 30],
      ]),
    )
    const [first, second] = await stores.eventStore.readStream('list-a')
    expect(first?.metadata.schemaVersion).toBeUndefined()
    expect(second?.metadata.schemaVersion).toBe(2)
  })

  test('upgrades older events to the newest version before they are projected', async () => {
    await append('list-a', 'ItemAdded', { name: 'v1', amount: 3 }, -1)
    const projector = projectorOn(stores.readModels)
    aggregate<ListState, ListCommand, ListEvent>({
      eventStore: stores.eventStore,
      category: 'list',
      decider: {
        ...listDecider,
        events: {
          ...listDecider.events,
          ItemAdded: [({ name, amount }) => ({ item: name, amount }) as never],
        },
      },
      view: { projector, project: projectList },
    })
    await reachedHead(stores.started(projector))
    expect(await documents()).toEqual({ v1: 3 })
  })

  test('that throws quarantines the stream of the event', async () => {
    await append('list-a', 'ItemAdded', { item: 'v1', amount: 3 }, -1)
    const lists = aggregate<ListState, DomainCommand, NextListEvent>({
      eventStore: stores.eventStore,
      category: 'list',
      decider: {
        ...nextListDecider,
        events: {
          ...nextListDecider.events,
          ItemAdded: [
            () => {
              throw new RangeError('no unit')
            },
          ],
        },
      } as never,
    })
    await expect(lists.load('a')).rejects.toMatchObject({
      code: 'stream-quarantined',
      reason: 'RangeError: no unit',
    })
  })
})

test('the checkpoint passes a quarantined stream, so that a restart does not begin before it', async () => {
  await append('list-a', 'ItemAdded', { item: 'bad', amount: 1 }, -1)
  await reachedHead(release({ broken: 'bad' }).start())
  expect(await stores.readModels.checkpoints.get(ID)).toBe(await stores.eventStore.head())
})
