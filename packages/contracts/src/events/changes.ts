import type { z } from 'zod'
import type { PublicEventData, PublicEventType } from './public-events.ts'
import type { CHANGES } from './resource-types.ts'

type Changes = typeof CHANGES
type ResourceType = keyof Changes

/** The action of a change, e.g. API_UPDATED. */
export type ChangeAction<Type extends ResourceType = ResourceType> = Changes[Type]['actions'][number]

/** The personal fields of a user in a stored change. They can be read until the key of the user is deleted. */
interface SealedFields {
  /** JSON `{salt, before, after}`, encrypted with the key of the user; `before` and `after` have the personal fields. */
  sealed: string
  /** SHA-256, in hexadecimal digits, of the canonical JSON (RFC 8785) of the encrypted text. */
  commitment: string
}

interface ChangeOf<Type extends ResourceType> {
  /** Also the type of the public event, where one exists. */
  action: ChangeAction<Type>
  resourceType: Type
  resourceId: string
  /** The resource before the event; null when the event created it. */
  before: z.output<Changes[Type]['snapshot']> | null
  /** The resource after the event; null when the event deleted it. */
  after: z.output<Changes[Type]['snapshot']> | null
  /** Set if the event restored the state of an earlier time: that time, ISO 8601 UTC. */
  restoredTo?: string
  /** The id of the environment of a deployment or an undeployment. */
  environment?: string
  /** Only in changes of users. */
  personal?: SealedFields
}

/**
 * The change that an event made to a resource, as readers see the resource. Stored with the event. Source of public events
 * and of the audit log.
 */
export type Change = { [Type in ResourceType]: ChangeOf<Type> }[ResourceType]

/**
 * The action that the audit log and histories name. For a restored API it is not that of the public event, API_UPDATED,
 * since receivers of events know no other.
 */
export const auditedAction = ({ action, restoredTo }: Change): string =>
  restoredTo === undefined ? action : 'API_RESTORED'

type SnapshotOf<Action extends ChangeAction> = {
  [Type in ResourceType]: Action extends ChangeAction<Type> ? z.output<Changes[Type]['snapshot']> : never
}[ResourceType]

/** The actions whose public event has other data than the changed resource. Its service makes these data. */
export type ComposedEventType = {
  [Action in ChangeAction & PublicEventType]: SnapshotOf<Action> extends PublicEventData<Action>
    ? never
    : Action
}[ChangeAction & PublicEventType]
