import { setImmediate } from 'node:timers/promises'
import type { FileIndex } from './file-index.ts'
import { FileQueries } from './file-queries.ts'
import { type FileAccess, type Lists, untilAnswered } from './lists.ts'

/** Changes applied between two checks of the elapsed time. */
const FEW_CHANGES = 100
/** Maximum time of one transaction while an index is built, in milliseconds. */
const TURN_MS = 10
const REPORT_MS = 5_000

export interface FileLists extends Lists {
  /** Resolves once the index has all changes that were in the file at the call, which can take minutes. */
  prepare(): Promise<void>
}

export interface FileListsOptions extends Pick<FileAccess, 'snapshot' | 'write'> {
  /** Name of the collection, for messages. */
  name: string
  indexWaitMs: number
  /** Receives the progress of an index that takes long to build, every few seconds. */
  log(message: string): void
}

/** Answers queries from an index in the file, which is first built from the documents in small transactions. */
export function fileLists(
  index: FileIndex,
  { name, indexWaitMs, snapshot, write, log }: FileListsOptions,
): FileLists {
  const queries = new FileQueries(index)
  let preparation: Promise<void> | undefined

  const progress = () => {
    const { cursor } = index.position()
    const last = index.lastChange()
    if (cursor === last) return `the documents of ${name} are being counted`
    return `the index of ${name} is being built: ${cursor} of ${last} changes`
  }

  const some = () => {
    const startedAt = performance.now()
    while (!index.catchUp(FEW_CHANGES)) if (performance.now() - startedAt > TURN_MS) return false
    return true
  }

  const build = async () => {
    let reportedAt = performance.now()
    let reported = false
    while (!(await write(some))) {
      if (performance.now() - reportedAt > REPORT_MS) {
        reportedAt = performance.now()
        reported = true
        log(snapshot(progress))
      }
      await setImmediate()
    }
    if (reported) log(`the index of ${name} is complete`)
  }

  const prepare = () => {
    preparation ??= build().finally(() => {
      preparation = undefined
    })
    return preparation
  }

  const ask = <T>(question: () => { value: T } | undefined): Promise<T> => {
    let failure: { error: unknown } | undefined
    return untilAnswered({ indexWaitMs, making: () => snapshot(progress) }, () => {
      if (failure) throw failure.error
      return snapshot(() => {
        if (index.isCurrent()) return question()
        prepare().catch(error => {
          failure = { error }
        })
        return undefined
      })
    })
  }

  return {
    prepare,
    find: (query, { counting, take }) =>
      ask(() => {
        const total = counting ? queries.count(query) : 0
        return total === undefined ? undefined : { value: take({ seqs: queries.page(query), total }) }
      }),
    count: filter =>
      ask(() => {
        const count = queries.count(filter)
        return count === undefined ? undefined : { value: count }
      }),
    facet: (filter, field, limit) => ask(() => ({ value: queries.facet(filter, field, limit) })),
  }
}
