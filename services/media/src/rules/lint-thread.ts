import { constants } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { EffectiveRule } from '@gantry/contracts'
import { DocumentInvalid } from '../check/checked.ts'
import { lowerPriority } from '../document/priority.ts'
import { type Linted, lint, tryRuleSet } from './lint.ts'

/** The content of a rule set, and a document to apply it to. Without a document the rule set is tried. */
export interface LintTask {
  bytes: Uint8Array
  content: string
  /** Whether somebody waits for the answer: the thread then keeps its priority. */
  awaited: boolean
}
export type LintAnswer =
  | { linted: Linted }
  | { rules: EffectiveRule[] }
  | { errors: DocumentInvalid['errors'] }
  | { failure: string }

async function answerTo({ bytes, content, awaited }: LintTask): Promise<LintAnswer> {
  if (bytes.length === 0) return { rules: await tryRuleSet(content) }
  // For good. Requests and checks go first.
  if (!awaited) lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  return { linted: await lint(bytes, content) }
}

parentPort?.on('message', async (task: LintTask) => {
  const answer = await answerTo(task).catch((error: Error) =>
    error instanceof DocumentInvalid ? { errors: error.errors } : { failure: error.stack ?? error.message },
  )
  parentPort?.postMessage(answer)
})
