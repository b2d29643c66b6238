import { Refusal } from '@gantry/contracts'
import { expect } from 'vitest'
import type { CommandMetadata, Decider, DomainCommand } from '../commands/decider.ts'
import type { DomainEvent } from '../log/event.ts'

/** Metadata of the commands in stories, always the same. */
export const storyMetadata: CommandMetadata = {
  commandId: '11111111-1111-4111-8111-111111111111',
  now: '2026-11-21T10:00:00.000Z',
  actor: { id: '22222222-2222-4222-8222-222222222222', name: 'grace' },
  requestId: 'story',
}

/** Tests a decider: `story(decider).given(a, b).when(command).then(c)`. */
export function story<State, Command extends DomainCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
) {
  return {
    given(...past: Event[]) {
      const state = past.reduce(
        (current, event, revision) => decider.evolve(current, event, revision, storyMetadata.actor),
        decider.initial,
      )
      return {
        state,
        when(command: Command) {
          return {
            /** Exactly these events, in this order; none means that nothing changes. */
            // biome-ignore lint/suspicious/noThenProperty: the name is from given/when/then; stories are not awaited
            then(...expected: Event[]) {
              expect(decider.decide(state, command)).toEqual(expected)
            },
            thenRefused(code: string) {
              let thrown: unknown
              try {
                decider.decide(state, command)
              } catch (error) {
                thrown = error
              }
              expect(thrown).toBeInstanceOf(Refusal)
              expect((thrown as Refusal).code).toBe(code)
            },
          }
        },
      }
    },
  }
}
