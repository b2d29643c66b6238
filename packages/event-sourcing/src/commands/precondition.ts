import { Refusal } from '@gantry/contracts'
import type { CommandMetadata } from '../log/decider.ts'

/** A command that applies only to the revisions of the record that its caller has seen. */
export interface Conditional {
  metadata: CommandMetadata
  /** Revisions that the caller has seen; every revision is accepted when absent. */
  ifMatch?: number[] | undefined
}

/** @throws Refusal precondition-failed when the record is at a revision that the caller has not seen */
export function requireRevision({ ifMatch }: Pick<Conditional, 'ifMatch'>, revision: number): void {
  if (ifMatch && !ifMatch.includes(revision)) throw new Refusal('precondition-failed')
}
