import { storyMetadata } from '@gantry/event-sourcing/testing'
import type { UserEvent } from '../user/user.ts'

/** A user named ada and events of her stream, for decider tests. */
export const ID = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
export const NOW = storyMetadata.now
export const LATER = '2026-11-21T10:15:00.000Z'
export const input = {
  username: 'ada',
  displayName: 'Ada Lovelace',
  email: null,
  role: 'USER',
  status: 'ACTIVE',
  sso: false,
} as const

export const created = (fields: object = {}): UserEvent => ({
  type: 'UserCreated',
  data: { id: ID, ...input, passwordHash: 'h1', createdAt: NOW, ...fields },
})
export const deleted: UserEvent = { type: 'UserDeleted', data: { deletedAt: NOW } }
