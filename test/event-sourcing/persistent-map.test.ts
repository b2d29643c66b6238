import { PersistentMap } from '@gantry/event-sourcing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const key = fc.integer({ min: 0, max: 40 }).map(String)
const change = fc.record({ key, value: fc.option(fc.nat(), { nil: undefined }) })

test('equals a Map after the same changes, ordered by key, and does not change earlier maps', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat())), fc.array(change, { maxLength: 120 }), (begin, changes) => {
      const model = new Map(begin)
      let map = PersistentMap.of(begin)
      const earlier: [PersistentMap<number>, [string, number][]][] = []
      for (const { key, value } of changes) {
        earlier.push([map, [...map]])
        if (value === undefined) model.delete(key)
        else model.set(key, value)
        map = value === undefined ? map.delete(key) : map.set(key, value)
        const expected = [...model].toSorted(([one], [other]) => (one < other ? -1 : 1))
        expect([...map]).toEqual(expected)
        expect([...map.keys()]).toEqual(expected.map(([key]) => key))
        expect([...map.values()]).toEqual(expected.map(([, value]) => value))
        expect(map.size).toBe(model.size)
        expect([map.get(key), map.has(key)]).toEqual([model.get(key), model.has(key)])
      }
      for (const [map, entries] of earlier) expect([...map]).toEqual(entries)
    }),
    { numRuns: 100 },
  )
})

test.for([
  ['ascending', (index: number) => index],
  ['descending', (index: number) => -index],
  ['in pairs from both ends', (index: number) => (index % 2 ? index : -index)],
] as const)(
  'compares a key about log n times after keys were set %s and half of them deleted',
  ([, order]) => {
    const count = 1_024
    const keyOf = (index: number) => String(1_000_000 + order(index))
    let map = PersistentMap.of<number>()
    for (let index = 0; index < count; index++) map = map.set(keyOf(index), index)
    for (let index = 0; index < count; index += 2) map = map.delete(keyOf(index))

    let compared = 0
    const counting = (key: string) => {
      const toPrimitive = () => {
        compared++
        return key
      }
      return { [Symbol.toPrimitive]: toPrimitive } as unknown as string
    }
    for (let index = 1; index < count; index += 2) map.get(counting(keyOf(index)))
    // An AVL tree of n nodes has a height of at most 1.44 log n. A lookup compares the key once per level.
    expect(compared / (count / 2)).toBeLessThan(1.45 * Math.log2(count))
  },
)
