import { type CommandMetadata, Refusal } from './decider.ts'

/** A command of somebody who may have looked before: it is meant for what he saw. */
export interface Conditional {
  metadata: CommandMetadata
  /** Revisions that the caller has seen; any will do when absent. */
  ifMatch?: number[] | undefined
}

/** @throws Refusal precondition-failed when the record is at a revision that the caller has not seen */
export function requireRevision({ ifMatch }: Pick<Conditional, 'ifMatch'>, revision: number): void {
  if (ifMatch && !ifMatch.includes(revision)) throw new Refusal('precondition-failed')
}
