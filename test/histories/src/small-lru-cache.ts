import { LRUCache as AnySize } from 'lru-cache/raw'

/** Fewer than the streams of a history, so that some are evicted. */
const MAX = 5

/**
 * Replaces `lru-cache` in these tests through a bundler alias. A cache allocates memory for all of its entries when it is
 * created, which took half of the time of a history. A cache of thousands never evicts anything in these tests.
 */
export class LRUCache<K extends object | string, V extends object | number> extends AnySize<K, V> {
  constructor(options: AnySize.Options<K, V, unknown>) {
    // A cache that is bounded by the size of its entries allocates no memory in advance.
    super(options.max === undefined ? options : { ...options, max: Math.min(options.max, MAX) })
  }
}
