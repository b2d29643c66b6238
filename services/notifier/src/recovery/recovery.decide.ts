import { type Change, Refusal } from '@gantry/contracts'
import type { CommandMetadata, Decider } from '@gantry/event-sourcing'
import {
  type End,
  evolveRecovery,
  initialRecovery,
  type RecoveryEvent,
  type RecoveryState,
  recoveryEvents,
} from './recovery.ts'

interface Commanded {
  metadata: CommandMetadata
}

export type RecoveryCommand =
  | ({
      type: 'RequestRecovery'
      id: string
      webhook: string
      /** ISO 8601 UTC with milliseconds; `to` defaults to now. */
      from: string
      to?: string | null | undefined
      /** Sequences on the bus: the events lie after `after`, up to and including `through`. */
      after: number
      through: number
      end: End | null
    } & Commanded)
  | ({ type: 'CountRecovery'; total: number } & Commanded)
  /** The events after `after` and up to `position` are handled. */
  | ({
      type: 'AdvanceRecovery'
      after: number
      position: number
      examined: number
      recovered: number
      moved?: { through: number; end: End }
    } & Commanded)
  | ({ type: 'CancelRecovery' } & Commanded)
  /** The webhook was deleted. */
  | ({ type: 'AbandonRecovery' } & Commanded)

export interface RecoveryRules {
  /**
   * Retention of finished deliveries in milliseconds. It limits how far back a recovery can go, because older deliveries
   * are unknown.
   */
  retentionMs: number
}

export function recoveryDecider(
  rules: RecoveryRules,
): Decider<RecoveryState, RecoveryCommand, RecoveryEvent> {
  return {
    initial: initialRecovery,
    events: recoveryEvents,
    evolve: evolveRecovery,
    decide: (state, command) => decide(rules, state, command),
    describe,
  }
}

function decide(rules: RecoveryRules, state: RecoveryState, command: RecoveryCommand): RecoveryEvent[] {
  const { now } = command.metadata
  if (command.type === 'RequestRecovery') {
    if (state.status !== 'Absent') return []
    const { id, webhook, from, to: until, after, through, end } = command
    const to = until ?? now
    requireRange({ from, to, now }, rules)
    const places = { after, through: Math.max(after, through), end }
    return [{ type: 'RecoveryRequested', data: { id, webhook, from, to, ...places, requestedAt: now } }]
  }
  if (state.status === 'Absent') throw new Refusal('recovery-not-found')

  switch (command.type) {
    case 'CountRecovery':
      if (state.status !== 'RUNNING' || state.total !== null) return []
      return [{ type: 'RecoveryCounted', data: { total: command.total, at: now } }]
    case 'AdvanceRecovery': {
      // Another process has recorded the same progress.
      if (state.status !== 'RUNNING' || state.position !== command.after) return []
      const { position, examined, recovered, moved } = command
      const advanced: RecoveryEvent = {
        type: 'RecoveryAdvanced',
        data: { position, examined, recovered, at: now, ...(moved && { moved }) },
      }
      return position < (moved ?? state).through
        ? [advanced]
        : [advanced, { type: 'RecoveryCompleted', data: { at: now } }]
    }
    case 'CancelRecovery':
      if (state.status !== 'RUNNING')
        throw new Refusal('recovery-not-running', { detail: `the recovery is ${state.status}` })
      return [{ type: 'RecoveryCancelled', data: { reason: 'requested', at: now } }]
    case 'AbandonRecovery':
      if (state.status !== 'RUNNING') return []
      return [{ type: 'RecoveryCancelled', data: { reason: 'webhook-deleted', at: now } }]
    default: {
      const missing: never = command
      return missing
    }
  }
}

function requireRange(
  { from, to, now }: { from: string; to: string; now: string },
  { retentionMs }: RecoveryRules,
): void {
  const earliest = new Date(Date.parse(now) - retentionMs).toISOString()
  const errors: { field: string; message: string }[] = []
  if (from < earliest)
    errors.push({ field: 'from', message: `must not be before ${earliest}: older deliveries are not kept` })
  if (to > now) errors.push({ field: 'to', message: 'must not be in the future' })
  if (from > to) errors.push({ field: 'from', message: 'must not be after to' })
  if (errors.length === 0) return
  const detail = errors.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new Refusal('invalid-request', { detail, errors })
}

/** Changes exist for users' commands only; progress is part of the record. */
function describe(before: RecoveryState, event: RecoveryEvent, after: RecoveryState): Change | null {
  if (after.status === 'Absent') return null
  const cancelled = event.type === 'RecoveryCancelled' && event.data.reason === 'requested'
  if (event.type !== 'RecoveryRequested' && !cancelled) return null
  const shown = (state: RecoveryState) => {
    if (state.status === 'Absent') return null
    const { webhook, from, to, status } = state
    return { webhook, from, to, status }
  }
  return {
    action: cancelled ? 'RECOVERY_CANCELLED' : 'RECOVERY_REQUESTED',
    resourceType: 'RECOVERY',
    resourceId: after.id,
    before: shown(before),
    after: shown(after),
  }
}
