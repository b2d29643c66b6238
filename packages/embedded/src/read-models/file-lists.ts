import { setImmediate } from 'node:timers/promises'
import { FileAnswers } from './file-answers.ts'
import type { FileIndex } from './file-index.ts'
import { type FileAccess, type Lists, untilAnswered } from './lists.ts'

/** Changes taken in before the time is looked at. */
const FEW_CHANGES = 100
/** Other work waits so long while an index is made. */
const TURN_MS = 10
const REPORT_MS = 5_000

export interface FileLists extends Lists {
  /** Resolves once the index has all that was in the file when it was called, which may take minutes. */
  prepare(): Promise<void>
}

export interface FileListsOptions extends Pick<FileAccess, 'snapshot' | 'write'> {
  /** The collection's, for messages. */
  name: string
  patienceMs: number
  /** Told now and then how far an index is that takes long. */
  log(message: string): void
}

/** Lists from an index in the file, which is first made from the documents, a little in each transaction. */
export function fileLists(
  index: FileIndex,
  { name, patienceMs, snapshot, write, log }: FileListsOptions,
): FileLists {
  const answers = new FileAnswers(index)
  let preparation: Promise<void> | undefined

  const progress = () => {
    const { cursor } = index.position()
    const last = index.lastChange()
    if (cursor === last) return `the documents of ${name} are being counted`
    return `the index of ${name} is being made: ${cursor} of ${last} changes`
  }

  const some = () => {
    const startedAt = performance.now()
    while (!index.follow(FEW_CHANGES)) if (performance.now() - startedAt > TURN_MS) return false
    return true
  }

  const catchUp = async () => {
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
    preparation ??= catchUp().finally(() => {
      preparation = undefined
    })
    return preparation
  }

  const ask = <T>(question: () => { value: T } | undefined): Promise<T> => {
    let failure: { error: unknown } | undefined
    return untilAnswered({ patienceMs, making: () => snapshot(progress) }, () => {
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
        const total = counting ? answers.count(query) : 0
        return total === undefined ? undefined : { value: take({ seqs: answers.page(query), total }) }
      }),
    count: filter =>
      ask(() => {
        const count = answers.count(filter)
        return count === undefined ? undefined : { value: count }
      }),
  }
}
