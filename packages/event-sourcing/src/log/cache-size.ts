/**
 * Options of an LRUCache for a number of entries. With `max`, it would allocate memory for all of them when it is made: 640 KB
 * for 10,000.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 })
