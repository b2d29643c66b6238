import { constants } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { checkDocument } from '../check/check.ts'
import { type Checked, type CheckOptions, DocumentInvalid } from '../check/checked.ts'
import type { Comparison } from '../compare/changes.ts'
import { type Compared, compareDocuments } from '../compare/compare.ts'
import { lowerPriority } from './priority.ts'

/** A document for a thread to check, or to compare with an earlier one, and what it answers. */
export type CheckTask = { bytes: Uint8Array; options: CheckOptions } | (Compared & { before: Compared })
export type CheckAnswer =
  | { checked: Checked }
  | { diff: Comparison }
  | { errors: DocumentInvalid['errors'] }
  | { failure: string }

lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort?.on('message', async (task: CheckTask) => {
  let answer: CheckAnswer
  try {
    answer =
      'before' in task
        ? { diff: await compareDocuments(task.before, task) }
        : { checked: checkDocument(task.bytes, task.options, () => release(task.bytes)) }
  } catch (error) {
    answer =
      error instanceof DocumentInvalid
        ? { errors: error.errors }
        : { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  parentPort?.postMessage(answer)
})

/** Frees the memory of bytes, which are in this thread alone, before a parser takes many times as much. */
const release = ({ buffer }: Uint8Array) => void (buffer as ArrayBuffer).transfer(0)
