import { LRUCache as AnySize } from 'lru-cache/raw'

/** Of the streams of a history some must have been forgotten. */
const MAX = 5

/**
 * Stands for `lru-cache` in these tests, by an alias of the bundler. A cache takes room for all of its entries when it
 * is made, which took half of the time of a history, and one of thousands never forgets anything in these tests.
 */
export class LRUCache<K extends object | string, V extends object | number> extends AnySize<K, V> {
  constructor(options: AnySize.Options<K, V, unknown>) {
    // One that is bounded by the size of its entries takes no room before it has them.
    super(options.max === undefined ? options : { ...options, max: Math.min(options.max, MAX) })
  }
}
