import { type AccessTokenRecord, type Change, Refusal, type Scope } from '@gantry/contracts'
import type { Aggregate, CommandMetadata, Decider } from '@gantry/event-sourcing'

export type TokenEvent =
  | {
      type: 'TokenCreated'
      data: Omit<AccessTokenRecord, 'lastUsedAt'> & {
        userId: string
        /** SHA-256 of the secret. */
        hash: string
      }
    }
  | { type: 'TokenUsed'; data: { at: string } }
  | { type: 'TokenRevoked'; data: { at: string } }

export interface LiveToken {
  status: 'Live'
  record: AccessTokenRecord
  userId: string
  hash: string
}

export type TokenState = { status: 'Absent' } | LiveToken | { status: 'Deleted'; userId: string }

export type TokenCommand =
  | {
      type: 'CreateToken'
      metadata: CommandMetadata
      id: string
      userId: string
      name: string
      validityDays: number
      scopes: Scope[]
      /** Scopes of the caller. The token cannot have others. */
      callerScopes: readonly Scope[]
      hash: string
    }
  | { type: 'RevokeToken'; metadata: CommandMetadata; userId: string }
  | { type: 'NoteUse'; metadata: CommandMetadata }

const DAY_MS = 86_400_000
/** Minimum time between recorded uses, in milliseconds, so that a busy token does not fill the log. */
const USE_NOTED_EVERY_MS = 600_000

export const useIsDue = ({ lastUsedAt }: AccessTokenRecord, at: string): boolean =>
  lastUsedAt === null || Date.parse(at) - Date.parse(lastUsedAt) >= USE_NOTED_EVERY_MS

export type TokenAggregate = Aggregate<TokenState, TokenCommand, TokenEvent>

export const tokenDecider: Decider<TokenState, TokenCommand, TokenEvent> = {
  initial: { status: 'Absent' },
  events: { TokenCreated: [], TokenUsed: [], TokenRevoked: [] },
  describe,
  decide(state, command) {
    const { now } = command.metadata
    switch (command.type) {
      case 'CreateToken': {
        if (state.status !== 'Absent') throw new Refusal('write-conflict')
        const { id, userId, name, scopes, callerScopes, hash, validityDays } = command
        const exceeding = scopes.filter(scope => !callerScopes.includes(scope))
        if (exceeding.length > 0) {
          const detail = `the caller does not have ${exceeding.join(', ')}`
          throw new Refusal('scopes-exceeded', { detail, scopes: exceeding })
        }
        const validUntil = new Date(Date.parse(now) + validityDays * DAY_MS).toISOString()
        return [
          { type: 'TokenCreated', data: { id, name, scopes, createdAt: now, validUntil, userId, hash } },
        ]
      }
      case 'RevokeToken':
        if (state.status !== 'Live' || state.userId !== command.userId)
          throw new Refusal('access-token-not-found')
        return [{ type: 'TokenRevoked', data: { at: now } }]
      case 'NoteUse':
        if (state.status !== 'Live' || !useIsDue(state.record, now)) return []
        return [{ type: 'TokenUsed', data: { at: now } }]
      default: {
        const missing: never = command
        return missing
      }
    }
  },
  evolve(state, event) {
    if (event.type === 'TokenCreated') {
      const { userId, hash, ...fields } = event.data
      return { status: 'Live', record: { ...fields, lastUsedAt: null }, userId, hash }
    }
    if (state.status !== 'Live') return state
    switch (event.type) {
      case 'TokenUsed':
        return { ...state, record: { ...state.record, lastUsedAt: event.data.at } }
      case 'TokenRevoked':
        return { status: 'Deleted', userId: state.userId }
      default:
        event satisfies never
        return state
    }
  },
}

function describe(before: TokenState, event: TokenEvent, after: TokenState): Change | null {
  if (event.type === 'TokenUsed') return null
  const of = (state: TokenState) => (state.status === 'Live' ? { ...state.record, user: state.userId } : null)
  const [was, is] = [of(before), of(after)]
  return {
    action: event.type === 'TokenCreated' ? 'ACCESS_TOKEN_CREATED' : 'ACCESS_TOKEN_REVOKED',
    resourceType: 'ACCESS_TOKEN',
    resourceId: (is ?? was)?.id ?? '',
    before: was,
    after: is,
  }
}
