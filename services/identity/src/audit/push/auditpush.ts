import type { Aggregate, CommandMetadata, Decider } from '@gantry/event-sourcing'

/** A record of the audit log: its number in the chain and its position in the log. */
interface PushedRecord {
  number: number
  position: string
}

/** Consecutive records that are pushed as one object. */
export interface PushedRange {
  first: PushedRecord
  last: PushedRecord
}

/** The pushes of the audit log to one destination. The range is recorded before it is sent. */
export type AuditPushEvent =
  | { type: 'AuditPushBegun'; data: PushedRange & { begunAt: string } }
  | { type: 'AuditPushEnded'; data: { number: number } }

export interface AuditPushState {
  status: 'Absent' | 'Live'
  /** Number of the last record that the destination has accepted; 0 when there is none. */
  pushed: number
  /** The range that was begun and may have been sent, in whole or not at all. It is sent again with the same records. */
  running: (PushedRange & { begunAt: string }) | null
  /** When the last push that the destination has accepted began, ISO 8601 UTC; null when there is none. */
  acceptedPushBegunAt: string | null
}

export type AuditPushCommand =
  /** Does nothing while another range is running, or if the range does not begin right after the pushed records. */
  | { type: 'BeginAuditPush'; metadata: CommandMetadata; range: PushedRange }
  /** Does nothing unless the running range ends with this record. */
  | { type: 'EndAuditPush'; metadata: CommandMetadata; number: number }

export type AuditPushes = Aggregate<AuditPushState, AuditPushCommand, AuditPushEvent>

export const auditPushDecider: Decider<AuditPushState, AuditPushCommand, AuditPushEvent> = {
  initial: { status: 'Absent', pushed: 0, running: null, acceptedPushBegunAt: null },
  events: { AuditPushBegun: [], AuditPushEnded: [] },
  decide({ pushed, running }, command) {
    switch (command.type) {
      case 'BeginAuditPush': {
        const { range, metadata } = command
        if (running || range.first.number !== pushed + 1) return []
        return [{ type: 'AuditPushBegun', data: { ...range, begunAt: metadata.now } }]
      }
      case 'EndAuditPush':
        if (running?.last.number !== command.number) return []
        return [{ type: 'AuditPushEnded', data: { number: command.number } }]
      default: {
        const missing: never = command
        return missing
      }
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case 'AuditPushBegun':
        return { ...state, status: 'Live', running: event.data }
      case 'AuditPushEnded':
        return {
          status: 'Live',
          pushed: event.data.number,
          running: null,
          acceptedPushBegunAt: state.running?.begunAt ?? state.acceptedPushBegunAt,
        }
      default:
        event satisfies never
        return state
    }
  },
}
