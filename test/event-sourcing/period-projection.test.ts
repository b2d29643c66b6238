import {
  aggregate,
  type DocumentChange,
  type EventStore,
  type Period,
  PeriodProjection,
  Projector,
  periodFields,
  type RecordedEvent,
} from '@gantry/event-sourcing'
import { defineCollection, type Write } from '@gantry/stores'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  add,
  double,
  type ItemDocument,
  type ListCommand,
  type ListEvent,
  type ListState,
  listDecider,
  type NextListCommand,
  type NextListEvent,
  nextListDecider,
  projectList,
  reachesHead,
  rebuild,
  remove,
  silent,
  useStores,
} from './support.ts'

const itemPeriods = defineCollection<ItemDocument & Period>({
  name: 'test.item-periods',
  version: 1,
  fields: { amount: 'number', ...periodFields },
})
const project: typeof projectList = (...given) =>
  projectList(...given).map(write => ({ ...write, collection: itemPeriods }))

let eventStore: EventStore
const stores = useStores()
beforeEach(() => {
  eventStore = stores.eventStore
})

const at = (second: number) => `2026-11-21T10:00:0${second}.000Z`
const timed = <C extends ListCommand | NextListCommand>(command: C, second: number): C => ({
  ...command,
  metadata: { ...command.metadata, now: at(second) },
})
const list = () =>
  aggregate<ListState, ListCommand, ListEvent>({
    eventStore,
    category: 'list',
    decider: listDecider,
  })
const nextList = () =>
  aggregate<ListState, NextListCommand, NextListEvent>({
    eventStore,
    category: 'list',
    decider: nextListDecider,
  })
const projection = (changed?: (change: DocumentChange) => Write[]) =>
  new PeriodProjection<ListState, ListEvent>({
    eventStore,
    category: 'list',
    decider: listDecider,
    project,
    ...(changed && { changed }),
  })
const stream = () => eventStore.readStream('list-1')

/** Two items: one changes, stays the same, is removed and added again; the clock of one event is behind. */
async function history(): Promise<RecordedEvent[]> {
  const { execute } = list()
  for (const command of [
    timed(add('pear', 1), 1),
    timed(add('fig', 7), 2),
    timed(add('pear', 2), 3),
    timed(add('pear', 2), 4),
    timed(add('pear', 3), 2),
    timed(remove('pear'), 5),
    timed(add('pear', 4), 6),
  ])
    await execute('1', command)
  return stream()
}

const period = (resource: string, began: number, amount: number, validFrom: string, validTo?: string) => ({
  id: `${resource}/${began}`,
  resource,
  amount,
  validFrom,
  validTo: validTo ?? '9999-12-31T23:59:59.999Z',
})
const periods = [
  period('fig', 1, 7, at(2)),
  period('pear', 0, 1, at(1), at(3)),
  period('pear', 2, 2, at(3), at(4)),
  period('pear', 4, 3, at(4), at(5)),
  period('pear', 6, 4, at(6)),
]

/** The documents after the writes, each guarded by its revision as in a store. */
function documentsOf(writes: readonly Write[]) {
  const latest = new Map<string, Write>()
  for (const write of writes) {
    const before = latest.get(write.id)
    if (!before || before.revision < write.revision) latest.set(write.id, write)
  }
  return [...latest.values()]
    .map(({ doc }) => doc)
    .toSorted((a, b) => ((a?.id ?? '') < (b?.id ?? '') ? -1 : 1))
}

/** All ways to divide a list into parts of consecutive elements. */
function divisions<T>(all: readonly T[]): T[][][] {
  return Array.from({ length: 2 ** (all.length - 1) }, (_, cuts) => {
    const parts: T[][] = []
    for (const [index, each] of all.entries())
      if (index === 0 || cuts & (1 << (index - 1))) parts.push([each])
      else parts.at(-1)?.push(each)
    return parts
  })
}

describe('the periods of a stream', () => {
  test('begin and end with the changes of the document, at times that never go back', async () => {
    const { writes } = await projection().writes(await history(), false)
    expect(documentsOf(writes)).toEqual(periods)
  })

  test('are the same from any batches, also when a batch is repeated or another process continues', async () => {
    for (const batches of divisions(await history())) {
      const [one, again] = [projection(), projection()]
      const all: Record<string, Write[]> = { 'by one process': [], 'by a process each': [], repeated: [] }
      for (const batch of batches) {
        all['by one process']?.push(...(await one.writes(batch, false)).writes)
        all['by a process each']?.push(...(await projection().writes(batch, false)).writes)
        for (let time = 0; time < 2; time++) all.repeated?.push(...(await again.writes(batch, false)).writes)
      }
      for (const [how, writes] of Object.entries(all)) expect(documentsOf(writes), how).toEqual(periods)
    }
  })

  test('end at an event of a later release, and are complete after the upgrade', async () => {
    await list().execute('1', timed(add('pear', 1), 1))
    await nextList().execute('1', timed(double('pear'), 2))
    await list().execute('1', timed(add('pear', 3), 3))
    const events = await stream()
    const before = await projection().writes(events, false)
    expect(before.unknown).toEqual(['ItemDoubled@1'])
    expect(documentsOf(before.writes)).toEqual([period('pear', 0, 1, at(1))])
    const after = await new PeriodProjection<ListState, NextListEvent>({
      eventStore,
      category: 'list',
      decider: nextListDecider,
      project,
    }).writes(events, true)
    expect(after.unknown).toEqual([])
    expect(documentsOf([...before.writes, ...after.writes])).toEqual([
      period('pear', 0, 1, at(1), at(2)),
      period('pear', 1, 2, at(2), at(3)),
      period('pear', 2, 3, at(3)),
    ])
  })

  test('are made with the document before and after each event, also of one that changes nothing', async () => {
    const events = await history()
    const told: DocumentChange[] = []
    const telling = projection(change => {
      told.push(change)
      const id = `change ${change.event.revision}`
      return [{ collection: itemPeriods, id, doc: { id }, revision: 0 }]
    })
    // A process that continues reads the earlier events without reporting them again.
    const { writes } = await telling.writes(events.slice(1), false)
    expect(
      told.map(({ id, before, after, event, at }) => [
        event.revision,
        id,
        (before as ItemDocument | null)?.amount,
        (after as ItemDocument | null)?.amount,
        at,
      ]),
    ).toEqual([
      [1, 'fig', undefined, 7, at(2)],
      [2, 'pear', 1, 2, at(3)],
      [3, 'pear', 2, 2, at(4)],
      [4, 'pear', 2, 3, at(4)],
      [5, 'pear', 3, undefined, at(5)],
      [6, 'pear', undefined, 4, at(6)],
    ])
    expect(writes.map(({ doc }) => doc)).toContainEqual({ id: 'change 3' })
  })

  test('are the same after a rebuild', async () => {
    await history()
    const { readModels } = stores
    const projector = new Projector({
      name: 'test.periods',
      eventStore,
      readModels,
      collections: [itemPeriods],
      holder: 'one',
      log: silent,
    })
    projector.register(projection())
    stores.started(projector)
    const documents = async () => {
      await reachesHead(projector, stores)
      const sort = [{ field: 'resource', direction: 'asc' as const }]
      const { items } = await readModels.collection(itemPeriods).find({ sort, limit: 100 })
      return items.map(({ doc }) => doc)
    }
    expect(await documents()).toEqual(periods)
    await readModels.collection(itemPeriods).put({ ...period('plum', 0, 1, at(1)), amount: 1 }, 0)
    await rebuild('test.periods', readModels)
    expect(await documents()).toEqual(periods)
  })
})
