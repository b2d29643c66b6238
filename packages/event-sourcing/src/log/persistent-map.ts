interface Node<Value> {
  readonly key: string
  readonly value: Value
  readonly left: Tree<Value>
  readonly right: Tree<Value>
  readonly height: number
  readonly size: number
}
type Tree<Value> = Node<Value> | undefined

/**
 * An immutable map from strings. `set` and `delete` return another map, which shares all but O(log n) nodes with this
 * one. So a state with many parts is folded without copying them, and earlier states stay as they were. Iteration is in
 * the order of the keys (by UTF-16 code units, as `<` compares), independent of the order in which they were set.
 */
export class PersistentMap<Value> implements Iterable<[string, Value]> {
  readonly #root: Tree<Value>

  private constructor(root: Tree<Value>) {
    this.#root = root
  }

  /** The last entry of a key replaces earlier ones. */
  static of<Value>(entries: Iterable<readonly [string, Value]> = []): PersistentMap<Value> {
    const sorted = [...new Map(entries)].sort(([one], [other]) => (one < other ? -1 : 1))
    return new PersistentMap(ofSorted(sorted, 0, sorted.length))
  }

  get size(): number {
    return this.#root?.size ?? 0
  }

  get(key: string): Value | undefined {
    return find(this.#root, key)?.value
  }

  has(key: string): boolean {
    return find(this.#root, key) !== undefined
  }

  set(key: string, value: Value): PersistentMap<Value> {
    return new PersistentMap(withEntry(this.#root, key, value))
  }

  delete(key: string): PersistentMap<Value> {
    return this.has(key) ? new PersistentMap(without(this.#root, key)) : this
  }

  *keys(): IterableIterator<string> {
    for (const { key } of nodes(this.#root)) yield key
  }

  *values(): IterableIterator<Value> {
    for (const { value } of nodes(this.#root)) yield value
  }

  *[Symbol.iterator](): IterableIterator<[string, Value]> {
    for (const { key, value } of nodes(this.#root)) yield [key, value]
  }

  toJSON(): [string, Value][] {
    return [...this]
  }
}

function find<Value>(tree: Tree<Value>, key: string): Tree<Value> {
  let node = tree
  while (node && node.key !== key) node = key < node.key ? node.left : node.right
  return node
}

function* nodes<Value>(tree: Tree<Value>): Generator<Node<Value>> {
  if (!tree) return
  yield* nodes(tree.left)
  yield tree
  yield* nodes(tree.right)
}

type Entry<Value> = Pick<Node<Value>, 'key' | 'value'>
const heightOf = (tree: Tree<unknown>) => tree?.height ?? 0
const sizeOf = (tree: Tree<unknown>) => tree?.size ?? 0

const join = <Value>({ key, value }: Entry<Value>, left: Tree<Value>, right: Tree<Value>): Node<Value> => ({
  key,
  value,
  left,
  right,
  height: 1 + Math.max(heightOf(left), heightOf(right)),
  size: 1 + sizeOf(left) + sizeOf(right),
})

/**
 * Joins two sides whose heights differ by at most two. The result is balanced: its sides differ by at most one
 * (Adelson-Velsky, Landis).
 */
function balance<Value>(entry: Entry<Value>, left: Tree<Value>, right: Tree<Value>): Node<Value> {
  if (left && left.height > heightOf(right) + 1) {
    const inner = left.right
    if (!inner || heightOf(left.left) >= inner.height) return join(left, left.left, join(entry, inner, right))
    return join(inner, join(left, left.left, inner.left), join(entry, inner.right, right))
  }
  if (right && right.height > heightOf(left) + 1) {
    const inner = right.left
    if (!inner || heightOf(right.right) >= inner.height)
      return join(right, join(entry, left, inner), right.right)
    return join(inner, join(entry, left, inner.left), join(right, inner.right, right.right))
  }
  return join(entry, left, right)
}

function withEntry<Value>(tree: Tree<Value>, key: string, value: Value): Node<Value> {
  if (!tree || key === tree.key) return join({ key, value }, tree?.left, tree?.right)
  return key < tree.key
    ? balance(tree, withEntry(tree.left, key, value), tree.right)
    : balance(tree, tree.left, withEntry(tree.right, key, value))
}

function without<Value>(tree: Tree<Value>, key: string): Tree<Value> {
  if (!tree) return undefined
  const { left, right } = tree
  if (key < tree.key) return balance(tree, without(left, key), right)
  if (key > tree.key) return balance(tree, left, without(right, key))
  if (!left || !right) return left ?? right
  let next = right
  while (next.left) next = next.left
  return balance(next, left, without(right, next.key))
}

function ofSorted<Value>(entries: readonly [string, Value][], from: number, to: number): Tree<Value> {
  const middle = (from + to) >> 1
  const entry = entries[middle]
  if (from >= to || !entry) return undefined
  const [key, value] = entry
  return join({ key, value }, ofSorted(entries, from, middle), ofSorted(entries, middle + 1, to))
}
