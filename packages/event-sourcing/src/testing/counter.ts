import { Refusal } from '@gantry/contracts'
import type { Decider, DomainCommand } from '../commands/decider.ts'

/** A minimal aggregate, for tests of the code that runs aggregates. */
export type CounterEvent = { type: 'Counted'; data: { by: number } } | { type: 'Closed'; data: object }
export type CounterState = { status: 'Live' | 'Deleted'; count: number }
export type CounterCommand = DomainCommand & ({ type: 'Count'; by: number } | { type: 'Close' })

export const counterDecider: Decider<CounterState, CounterCommand, CounterEvent> = {
  initial: { status: 'Live', count: 0 },
  events: { Counted: [], Closed: [] },
  decide(state, command) {
    if (state.status === 'Deleted') throw new Refusal('write-conflict')
    if (command.type === 'Close') return [{ type: 'Closed', data: {} }]
    return command.by === 0 ? [] : [{ type: 'Counted', data: { by: command.by } }]
  },
  evolve(state, event) {
    switch (event.type) {
      case 'Counted':
        return { ...state, count: state.count + event.data.by }
      case 'Closed':
        return { ...state, status: 'Deleted' }
      default:
        event satisfies never
        return state
    }
  },
  describe: () => null,
}
