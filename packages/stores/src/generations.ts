import type { Collection, CollectionDefinition, Document, Filter } from './collection.ts'
import type { CollectionGroup, Generations, Lease, ReadModelStore, ReadModels } from './read-models.ts'

// biome-ignore lint/suspicious/noExplicitAny: collections of different documents
type Definition = CollectionDefinition<any>

export interface GenerationOptions {
  /**
   * How long a process may use the generations that it has read, in milliseconds. 0: each access reads them. Infinity: no
   * other process uses the store.
   */
  knownForMs: number
  /** The store refuses a write that begins more than this many milliseconds after its call. */
  writtenWithinMs: number
}

/** Added to durations of the clocks of other processes, which may run at another rate, in milliseconds. */
const CLOCKS_MS = 100

const FIRST: Generations = { live: 0, written: [0], dropped: [] }

const checkpointOf = (group: string) => `${group}.generations`

/** The generations of a group, which this process need not use; undefined before they are saved for the first time. */
export async function storedGenerations(
  group: string,
  { checkpoints }: Pick<ReadModelStore, 'checkpoints'>,
): Promise<Generations | undefined> {
  const text = await checkpoints.get(checkpointOf(group))
  return text === undefined ? undefined : JSON.parse(text)
}

/**
 * Read models whose groups of collections have generations. A collection without a generation in its definition is that
 * of the live generation for reads, and of every generation that is written for writes.
 */
export function withGenerations(store: ReadModelStore, options: GenerationOptions): ReadModels {
  const groups = new Map<string, Group>()
  const groupOf = new Map<string, Group>()
  const opened = new WeakMap<Definition, unknown>()

  const find = (definition: Pick<Definition, 'name' | 'version' | 'generation'>) =>
    definition.generation === undefined ? groupOf.get(nameOf(definition)) : undefined

  return {
    ...store,
    collection<D extends Document>(definition: CollectionDefinition<D>): Collection<D> {
      if (definition.generation !== undefined) return store.collection(definition)
      const known = opened.get(definition) as Collection<D> | undefined
      if (known) return known
      const resolving = resolvingCollection(store, definition, find)
      opened.set(definition, resolving)
      return resolving
    },
    group(name, definitions) {
      const known = groups.get(name)
      if (known) return known
      const group = new Group(store, { name, definitions, ...options })
      groups.set(name, group)
      for (const definition of definitions) groupOf.set(nameOf(definition), group)
      return group
    },
    async write(writes, checkpoint) {
      const grouped = writes.map(write => ({ write, group: find(write.collection) }))
      const written = new Map<Group, readonly number[]>()
      for (const { group } of grouped)
        if (group && !written.has(group)) written.set(group, (await group.current()).written)
      const all = grouped.flatMap(({ write, group }) =>
        group
          ? (written.get(group) ?? []).map(of => ({ ...write, collection: group.of(write.collection, of) }))
          : [write],
      )
      return store.write(all, checkpoint)
    },
    async drop(definition) {
      const generation = definition.generation ?? (await find(definition)?.current())?.live
      await store.drop({ ...definition, ...(generation !== undefined && { generation }) })
    },
  }
}

const nameOf = ({ name, version }: Pick<Definition, 'name' | 'version'>) => `${name}@${version}`

interface GroupOptions extends GenerationOptions {
  name: string
  definitions: readonly Definition[]
}

class Group implements CollectionGroup {
  readonly settleMs: number
  readonly unusedMs: number
  readonly #store: ReadModelStore
  readonly #options: GroupOptions
  readonly #checkpoint: string
  /** One definition object per generation, because stores cache by it. */
  readonly #definitions = new WeakMap<Definition, Map<number, Definition>>()
  #known: { generations: Generations; at: number } | undefined
  #changing: Promise<unknown> = Promise.resolve()

  constructor(store: ReadModelStore, options: GroupOptions) {
    const { name, knownForMs, writtenWithinMs } = options
    const isShared = knownForMs !== Number.POSITIVE_INFINITY
    this.settleMs = isShared && knownForMs > 0 ? knownForMs + CLOCKS_MS : 0
    this.unusedMs = isShared ? this.settleMs + writtenWithinMs : 0
    this.#store = store
    this.#options = options
    this.#checkpoint = checkpointOf(name)
  }

  async current(): Promise<Generations> {
    const { knownForMs } = this.#options
    const isRecent = this.#known !== undefined && performance.now() - this.#known.at < knownForMs
    return isRecent && this.#known ? this.#known.generations : this.#read()
  }

  change(lease: Lease, next: (generations: Generations) => Generations): Promise<Generations> {
    const changed = this.#changing.then(async () => {
      const generations = next(await this.#read())
      const at = performance.now()
      await this.#store.checkpoints.save(this.#checkpoint, JSON.stringify(generations), lease)
      this.#known = { generations, at }
      return generations
    })
    this.#changing = changed.catch(() => {})
    return changed
  }

  of<D extends Document>(definition: CollectionDefinition<D>, generation: number): CollectionDefinition<D> {
    const definitions = this.#definitions.get(definition) ?? new Map<number, Definition>()
    const known = definitions.get(generation)
    if (known) return known
    // Releases what the store has in memory for generations that are gone.
    for (const other of definitions.keys())
      if (!this.#known?.generations.written.includes(other)) definitions.delete(other)
    const of = { ...definition, generation }
    this.#definitions.set(definition, definitions.set(generation, of))
    return of
  }

  async discard(generation: number): Promise<void> {
    for (const definition of this.#options.definitions) {
      this.#definitions.get(definition)?.delete(generation)
      await this.#store.discard({ name: definition.name, version: definition.version, generation })
    }
  }

  async #read(): Promise<Generations> {
    const at = performance.now()
    const generations = (await storedGenerations(this.#options.name, this.#store)) ?? FIRST
    if (!this.#known || this.#known.at < at) this.#known = { generations, at }
    return generations
  }
}

type Find = (definition: Definition) => Group | undefined

/** A collection whose calls go to the generation, or generations, that exist at the time of the call. */
function resolvingCollection<D extends Document>(
  store: ReadModelStore,
  definition: CollectionDefinition<D>,
  find: Find,
): Collection<D> {
  const live = async (): Promise<Collection<D>> => {
    const group = find(definition)
    return store.collection(group ? group.of(definition, (await group.current()).live) : definition)
  }
  /** Changes every generation that is written. @returns the result in the live one */
  const everywhere = async <T>(change: (collection: Collection<D>) => Promise<T>): Promise<T> => {
    const group = find(definition)
    if (!group) return change(store.collection(definition))
    const { live, written } = await group.current()
    const others = written.filter(generation => generation !== live)
    for (const generation of others) await change(store.collection(group.of(definition, generation)))
    return change(store.collection(group.of(definition, live)))
  }
  /** The filter with the live generations of the collections that a search reads as well. */
  const resolved = async <F extends Filter>(filter: F): Promise<F> => {
    const { search } = filter
    if (!search?.described) return filter
    const described = search.described.map(async ({ by, field }) => {
      const group = find(by)
      return { by: group ? group.of(by, (await group.current()).live) : by, field }
    })
    return { ...filter, search: { ...search, described: await Promise.all(described) } }
  }
  return {
    get: async id => (await live()).get(id),
    latest: async id => (await live()).latest(id),
    getMany: async ids => (await live()).getMany(ids),
    existing: async ids => (await live()).existing(ids),
    find: async query => (await live()).find(await resolved(query)),
    list: async query => (await live()).list(await resolved(query)),
    count: async filter => (await live()).count(await resolved(filter)),
    facet: async (filter, field, limit) => (await live()).facet(await resolved(filter), field, limit),
    async *ids() {
      yield* (await live()).ids()
    },
    put: (doc, revision) => everywhere(collection => collection.put(doc, revision)),
    remove: (id, revision) => everywhere(collection => collection.remove(id, revision)),
    forgetRemoved: async ageMs => (await live()).forgetRemoved(ageMs),
  }
}
