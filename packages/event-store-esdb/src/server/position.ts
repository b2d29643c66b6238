import { type Position, START } from '@gantry/event-sourcing'

/** A position in the log of EventStoreDB: unsigned 64-bit numbers, ordered by commit, then by prepare. */
export interface LogPosition {
  commit: bigint
  prepare: bigint
}

/** Digits of the largest 64-bit number, so that the string order equals the order of positions. */
const WIDTH = 20
const digits = (number: bigint) => number.toString().padStart(WIDTH, '0')

/** Encodes both numbers: a checkpoint lies before the event of the same commit, and reading continues exactly there. */
export const encode = ({ commit, prepare }: LogPosition): Position => `${digits(commit)}-${digits(prepare)}`

/** A position of another log, e.g. a checkpoint from before the event store was changed. */
export class ForeignPosition extends Error {
  constructor(position: Position) {
    super(
      `${position} is not a position of EventStoreDB: the read models were built from another event store`,
    )
    this.name = 'ForeignPosition'
  }
}

/** @throws ForeignPosition */
export function decode(position: Position): LogPosition | 'start' {
  if (position === START) return 'start'
  const [, commit, prepare] = /^(\d{20})-(\d{20})$/.exec(position) ?? []
  if (commit === undefined || prepare === undefined) throw new ForeignPosition(position)
  return { commit: BigInt(commit), prepare: BigInt(prepare) }
}

export const later = (a: Position, b: Position): Position => (a > b ? a : b)
