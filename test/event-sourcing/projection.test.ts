import { aggregate, type EventStore, EventStoreUnavailable, Projector } from '@gantry/event-sourcing'
import { type ReadModels, ReadModelsUnavailable } from '@gantry/stores'
import { expect, test } from 'vitest'
import {
  add,
  behind,
  items,
  type ListCommand,
  type ListEvent,
  type ListState,
  listDecider,
  projectList,
  reachesHead,
  ready,
  remove,
  silent,
  useStores,
} from './support.ts'

const stores = useStores()

/** A replica that executes commands and, once started, runs a projector. */
function replica(readModels: ReadModels = stores.readModels, eventStore: EventStore = stores.eventStore) {
  const projector = new Projector({
    name: 'test.projector',
    eventStore,
    readModels,
    collections: [items],
    holder: 'one',
    log: silent,
  })
  const lists = aggregate<ListState, ListCommand, ListEvent>({
    eventStore,
    category: 'list',
    decider: listDecider,
    view: { projector, project: projectList },
  })
  return {
    run: (command: ListCommand) => lists.execute('a', command),
    start: () => stores.started(projector),
  }
}

/** Read models that refuse writes while they are away. */
const failingReadModels = () => {
  let isAway = false
  const failing: ReadModels = {
    ...stores.readModels,
    async write(...args) {
      if (isAway) throw new ReadModelsUnavailable('away')
      await stores.readModels.write(...args)
    },
  }
  return { failing, setAway: (away: boolean) => (isAway = away) }
}

const documents = async (readModels = stores.readModels) =>
  (await readModels.collection(items).list({ limit: 100 }))
    .map(({ doc }) => doc.id)
    .toSorted((a, b) => a.localeCompare(b))

/** The documents that a new installation makes from the same log. */
async function rebuilt(): Promise<string[]> {
  const readModels = stores.anew()
  const projector = replica(readModels).start()
  await reachesHead(projector, stores)
  return documents(readModels)
}

test('events whose projection failed are projected although a later command was answered', async () => {
  const { failing, setAway } = failingReadModels()
  const one = replica(failing)
  const projector = one.start()
  await one.run(add('v0'))
  await ready(projector)
  setAway(true)
  await expect(one.run(add('v1'))).rejects.toThrow(ReadModelsUnavailable)
  await expect(one.run(remove('v0'))).rejects.toThrow(ReadModelsUnavailable)
  setAway(false)
  await one.run(add('v2'))
  await reachesHead(projector, stores)
  expect(await documents()).toEqual(['v1', 'v2'])
  expect(await rebuilt()).toEqual(['v1', 'v2'])
})

test('events of another replica are projected by a replica that has appended after them', async () => {
  const one = replica(stores.readModels, behind(stores.eventStore))
  // The other replica is killed between each of its appends and the projection.
  const other = replica({ ...stores.readModels, write: async () => {} })
  const projector = one.start()
  await ready(projector)
  for (let n = 0; n < 5; n++) {
    await other.run(add(`other-${n}`))
    await one.run(add(`one-${n}`))
  }
  await reachesHead(projector, stores)
  expect(await documents()).toEqual(await rebuilt())
  expect(await documents()).toHaveLength(10)
})

test('a repeated append after later events does not hide them from the projector', async () => {
  const dying = replica({ ...stores.readModels, write: async () => {} })
  const one = replica(stores.readModels, behind(stores.eventStore))
  const projector = one.start()
  await ready(projector)
  const command = add('v1')
  await dying.run(command)
  await dying.run(add('v2'))
  await one.run({ ...command, metadata: { ...command.metadata, repeated: true } })
  await reachesHead(projector, stores)
  expect(await documents()).toEqual(['v1', 'v2'])
})

test('a command without changes projects all earlier events', async () => {
  const dying = replica({ ...stores.readModels, write: async () => {} })
  const one = replica()
  await one.run(add('v0'))
  await dying.run(add('v1'))
  await one.run(add('v2'))
  await expect(one.run(remove('nothing'))).rejects.toMatchObject({ code: 'not-found' })
  expect(await documents()).toEqual(['v0', 'v1', 'v2'])
})

test('events in order are projected once: the projector skips those that a command has projected', async () => {
  let writes = 0
  const counting: ReadModels = {
    ...stores.readModels,
    async write(given, checkpoint) {
      writes += given.length
      await stores.readModels.write(given, checkpoint)
    },
  }
  const one = replica(counting, behind(stores.eventStore))
  for (const item of ['v0', 'v1', 'v2']) await one.run(add(item))
  const projector = one.start()
  // The first start makes the read models from the log.
  await ready(projector)
  writes = 0
  for (const item of ['v3', 'v4']) await one.run(add(item))
  await reachesHead(projector, stores)
  expect(writes).toBe(2)
})

test('a command projects earlier events that are in no document yet, of any writer', async () => {
  const dying = replica({ ...stores.readModels, write: async () => {} })
  const one = replica()
  await dying.run(add('v0'))
  await one.run(add('v1'))
  expect(await documents()).toEqual(['v0', 'v1'])
  await dying.run(remove('v0'))
  await one.run(add('v2'))
  expect(await documents()).toEqual(['v1', 'v2'])
})

test('a command projects events that an earlier command of its process could not project', async () => {
  const { failing, setAway } = failingReadModels()
  await replica().run(add('v0'))
  const one = replica(failing)
  setAway(true)
  await expect(one.run(remove('v0'))).rejects.toThrow(ReadModelsUnavailable)
  setAway(false)
  await one.run(add('v1'))
  expect(await documents()).toEqual(['v1'])
})

test('a command after a restart does not read old events that the projector has projected', async () => {
  const before = replica()
  for (const item of ['v0', 'v1', 'v2']) await before.run(add(item))
  let read = 0
  const counting: EventStore = {
    ...stores.eventStore,
    async readStream(...args) {
      const events = await stores.eventStore.readStream(...args)
      read += events.length
      return events
    },
  }
  const one = replica(stores.readModels, counting)
  const projector = one.start()
  await reachesHead(projector, stores)
  await ready(projector)
  await one.run(add('v3'))
  await expect(one.run(remove('nothing'))).rejects.toMatchObject({ code: 'not-found' })
  expect(read).toBe(0)
})

test('an append with an unknown outcome is projected, also when the next command follows it', async () => {
  let isLost = false
  const losing: EventStore = {
    ...stores.eventStore,
    async append(...args) {
      const appended = await stores.eventStore.append(...args)
      if (isLost) throw new EventStoreUnavailable('the answer is lost')
      return appended
    },
    async readStream(...args) {
      if (isLost) throw new EventStoreUnavailable('away')
      return stores.eventStore.readStream(...args)
    },
  }
  const one = replica(stores.readModels, losing)
  await one.run(add('v0'))
  isLost = true
  await expect(one.run(add('v1'))).rejects.toThrow(EventStoreUnavailable)
  isLost = false
  await one.run(add('v2'))
  const projector = one.start()
  await reachesHead(projector, stores)
  expect(await documents()).toEqual(['v0', 'v1', 'v2'])
})
