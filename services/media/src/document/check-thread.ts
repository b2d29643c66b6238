import { parentPort } from 'node:worker_threads'
import { checkDocument } from '../check/check.ts'
import { type Checked, type CheckOptions, DocumentInvalid } from '../check/checked.ts'

/** A document for a thread, and what it answers. */
export interface CheckTask {
  bytes: Uint8Array
  options: CheckOptions
}
export type CheckAnswer = { checked: Checked } | { errors: DocumentInvalid['errors'] } | { failure: string }

parentPort?.on('message', ({ bytes, options }: CheckTask) => {
  let answer: CheckAnswer
  try {
    answer = { checked: checkDocument(bytes, options) }
  } catch (error) {
    answer =
      error instanceof DocumentInvalid
        ? { errors: error.errors }
        : { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  parentPort?.postMessage(answer)
})
