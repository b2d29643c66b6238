import type { Change } from '@gantry/contracts'
import type { CommandMetadata, Decider } from '@gantry/event-sourcing'

type Shown<Type extends Change['resourceType']> = NonNullable<
  Extract<Change, { resourceType: Type }>['after']
>

/**
 * An access that changes no resource and is recorded for the audit log alone. A stream has the accesses of one type in
 * one minute.
 */
export type AccessEvent =
  | { type: 'LoginRefused'; data: Shown<'LOGIN'> }
  | { type: 'OperationRefused'; data: Shown<'OPERATION'> }
  | { type: 'AuditLogExported'; data: Shown<'AUDIT_LOG'> }

export interface AccessState {
  status: 'Absent' | 'Live'
  records: number
}

/** Does nothing once the stream has the maximum number of records of its type. */
export interface RecordAccess {
  type: 'RecordAccess'
  metadata: CommandMetadata
  event: AccessEvent
}

/** Records of a minute, so that an attacker cannot fill the log. */
const MOST: Readonly<Record<AccessEvent['type'], number>> = {
  LoginRefused: 100,
  OperationRefused: 100,
  AuditLogExported: Number.POSITIVE_INFINITY,
}

export const accessDecider: Decider<AccessState, RecordAccess, AccessEvent> = {
  initial: { status: 'Absent', records: 0 },
  events: { LoginRefused: [], OperationRefused: [], AuditLogExported: [] },
  decide: ({ records }, { event }) => (records < MOST[event.type] ? [event] : []),
  evolve(state, event) {
    switch (event.type) {
      case 'LoginRefused':
      case 'OperationRefused':
      case 'AuditLogExported':
        return { status: 'Live', records: state.records + 1 }
      default:
        event satisfies never
        return state
    }
  },
  describe: (_before, event) => changeOf(event),
}

function changeOf(event: AccessEvent): Change {
  const before = null
  switch (event.type) {
    case 'LoginRefused': {
      const { data: after } = event
      const resourceId = after.user ?? after.name ?? ''
      return { action: 'LOGIN_REFUSED', resourceType: 'LOGIN', resourceId, before, after }
    }
    case 'OperationRefused': {
      const { data: after } = event
      const resourceId = after.operation
      return { action: 'OPERATION_REFUSED', resourceType: 'OPERATION', resourceId, before, after }
    }
    case 'AuditLogExported':
      return {
        action: 'AUDIT_LOG_EXPORTED',
        resourceType: 'AUDIT_LOG',
        resourceId: 'auditLog',
        before,
        after: event.data,
      }
  }
}
