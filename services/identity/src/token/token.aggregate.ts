import { aggregate, type Projector } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-runtime'
import { projectToken } from './token.projection.ts'
import {
  type TokenAggregate,
  type TokenCommand,
  type TokenEvent,
  type TokenState,
  tokenDecider,
} from './token.ts'

export const tokenAggregate = (
  { eventStore, unknownEvent }: Instrumented,
  projector: Projector,
): TokenAggregate =>
  aggregate<TokenState, TokenCommand, TokenEvent>({
    eventStore,
    unknownEvent,
    category: 'token',
    decider: tokenDecider,
    view: { projector, project: projectToken },
  })
