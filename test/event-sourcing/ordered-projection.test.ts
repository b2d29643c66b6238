import { randomUUID } from 'node:crypto'
import { NO_STREAM, type OrderedProjection, Projector, requestRebuild } from '@gantry/event-sourcing'
import { defineCollection, type ReadModels } from '@gantry/stores'
import { beforeEach, expect, test } from 'vitest'
import { event, eventually, reachesHead, silent, useStores } from './support.ts'

interface Place {
  id: string
  number: number
  /** The id of the event before. */
  before: string
}
const places = defineCollection<Place>({ name: 'test.places', version: 1, fields: { number: 'number' } })

/** Numbers the events in the order of the log. */
const numbering: OrderedProjection<{ number: number; id: string }> = {
  initial: { number: 0, id: '' },
  isOurs: () => true,
  foreign() {},
  next(state, events) {
    let last = state
    const writes = events.map(({ id }) => {
      const doc: Place = { id, number: last.number + 1, before: last.id }
      last = { number: doc.number, id }
      return { collection: places, id, doc, revision: 0 }
    })
    return { state: last, writes }
  },
}

const stores = useStores()
let ids: string[]
beforeEach(() => {
  ids = []
})

const project = (through = stores.readModels, holder: string = randomUUID()) => {
  const { eventStore } = stores
  const options = { name: 'test.ordered', eventStore, readModels: through, holder, log: silent }
  const projector = new Projector({
    ...options,
    collections: [places],
    ordered: numbering as OrderedProjection,
  })
  return stores.started(projector)
}

/** Appends events alternately to streams of both categories, several in each append. */
async function append(count: number) {
  for (let left = count; left > 0; left -= 50) {
    for (const category of ['odd', 'even']) {
      const events = Array.from({ length: Math.min(25, left) }, () => event('Happened', {}))
      ids.push(...events.map(({ id }) => id))
      await stores.eventStore.append(`${category}-${randomUUID()}`, events, NO_STREAM)
    }
  }
}

const caughtUp = (projector: Projector) => reachesHead(projector, stores)

async function expectAllInOrder() {
  const found: Place[] = []
  for (let skip = 0; skip < ids.length; skip += 1_000)
    found.push(
      ...(
        await stores.readModels
          .collection(places)
          .list({ sort: [{ field: 'number', direction: 'asc' }], skip, limit: 1_000 })
      ).map(({ doc }) => doc),
    )
  expect(found).toEqual(ids.map((id, index) => ({ id, number: index + 1, before: ids[index - 1] ?? '' })))
}

test('documents depend on all events before, also after restarts and after a rebuild', async () => {
  await append(1_300)
  let projector = project()
  await caughtUp(projector)
  await append(100)
  await caughtUp(projector)
  await projector.stop()

  await append(100)
  projector = project()
  await caughtUp(projector)
  await expectAllInOrder()

  await requestRebuild('test.ordered', stores.readModels, randomUUID())
  await append(100)
  await eventually(async () => {
    await caughtUp(projector)
    await expectAllInOrder()
  })
})

test('documents that were written before a crash, without the checkpoint, are written again as they were', async () => {
  let crashes = 3
  const crashing: ReadModels = Object.create(stores.readModels, {
    write: {
      async value(...[writes, checkpoint]: Parameters<ReadModels['write']>) {
        if (!checkpoint || writes.length === 0 || crashes-- <= 0)
          return stores.readModels.write(writes, checkpoint)
        await stores.readModels.write(writes.slice(0, crashes * 20))
        throw new Error('the process dies here')
      },
    },
  })
  const projector = project(crashing)
  for (let time = 0; time < 5; time++) await append(60)
  await caughtUp(projector)
  expect(crashes).toBeLessThan(0)
  await expectAllInOrder()
})

test('a holder that was paused continues without harm while another one has projected further', async () => {
  await append(50)
  let paused: (() => void) | undefined
  const pausing: ReadModels = Object.create(stores.readModels, {
    write: {
      async value(...[writes, checkpoint]: Parameters<ReadModels['write']>) {
        if (writes.length > 0 && checkpoint)
          await new Promise<void>(resume => {
            paused = resume
          })
        // MongoDB has no transaction over documents and checkpoint: the lease refuses the checkpoint alone.
        await stores.readModels.write(writes)
        return stores.readModels.write([], checkpoint)
      },
    },
  })
  const first = project(pausing, 'first')
  await eventually(() => expect(paused).toBeDefined())
  const name = 'test.ordered test.places@1 test.ordered.held@1'
  const lease = await stores.readModels.leases.acquire(name, 'first', 5_000)
  if (!lease) throw new Error('the lease has another name')
  await stores.readModels.leases.release(lease)
  const second = project(stores.readModels, 'second')
  await append(50)
  await caughtUp(second)
  paused?.()
  await append(50)
  await caughtUp(second)
  await first.stop()
  await expectAllInOrder()
})

test('a projector in the order of the log has no projection of streams', () => {
  const projector = project()
  const each = {
    category: 'odd',
    knows: () => true,
    writes: async () => ({ writes: [], unknown: [] }),
    written() {},
  }
  expect(() => projector.register(each)).toThrow(/order of the log/)
})
