import { setImmediate } from 'node:timers/promises'
import type { Filter } from '@gantry/stores'
import type { Bits } from './bits.ts'
import { CollectionIndex, type IndexedFields } from './collection-index.ts'
import type { DocumentTable } from './document-table.ts'
import { type FileAccess, type Lists, untilAnswered } from './lists.ts'

export interface MemoryListsOptions extends Pick<FileAccess, 'read' | 'snapshot'> {
  indexWaitMs: number
}

/**
 * Answers queries from an index in memory. The first query starts to load it in slices; the first search starts to load the
 * texts.
 */
export function memoryLists(
  table: DocumentTable,
  definition: IndexedFields & { name: string },
  { indexWaitMs, read, snapshot }: MemoryListsOptions,
): Lists {
  let index: CollectionIndex | undefined
  let searched = false
  let loading: Promise<void> | undefined
  let failure: { error: unknown } | undefined
  let loaded = 0

  /** Builds a new index while the current one stays in use. */
  const made = async (searchable: boolean) => {
    const next = new CollectionIndex(table, definition, searchable)
    while (!read(() => next.catchUp())) {
      loaded = next.size
      await setImmediate()
    }
    return next
  }

  const lacksTexts = () => searched && !index?.searchable
  const load = async () => {
    index ??= await made(false)
    while (lacksTexts() || index.fragmented) index = await made(searched)
  }

  /** Starts to load what is missing, while the current index stays in use. After a failure the next query tries again. */
  const loadMissing = () => {
    if (loading || (index && !lacksTexts() && !index.fragmented)) return
    loading = load()
      .catch(error => {
        failure = { error }
      })
      .finally(() => {
        loading = undefined
      })
  }

  const ask = <T>(filter: Filter, question: (index: CollectionIndex, selected: Bits) => T): Promise<T> => {
    const searching = (filter.text ?? []).length > 0
    searched ||= searching
    failure = undefined
    return untilAnswered(
      {
        indexWaitMs,
        making: () => `the index of ${definition.name} is being loaded: ${loaded} documents so far`,
      },
      () => {
        if (!failure) loadMissing()
        const current = index
        if (current && (current.searchable || !searching))
          return snapshot(() =>
            current.catchUp() ? { value: question(current, current.select(filter)) } : undefined,
          )
        if (failure) throw failure.error
        return undefined
      },
    )
  }

  return {
    find: (query, { take }) =>
      ask(query, (index, selected) => {
        const total = selected.count()
        return take({ seqs: index.page(selected, total, query), total })
      }),
    count: filter => ask(filter, (_, selected) => selected.count()),
    facet: (filter, field, limit) => ask(filter, (index, selected) => index.facet(selected, field, limit)),
  }
}
