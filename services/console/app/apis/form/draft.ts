import type { Schemas } from '../../http/schemas.ts'
import { requireFields } from '../../parts/field-errors.ts'

/** The fields of the form of an API. An optional field without a value is the empty text. */
export interface ApiDraft {
  name: string
  displayName: string
  description: string
  url: string
  status: Schemas['ApiInput']['status']
  tags: string[]
  owner: string
  platformType: string
  gitUrl: string
  gitCredential: string
}

export const LABELS: Readonly<Record<keyof ApiDraft, string>> = {
  name: 'Name',
  displayName: 'Display name',
  description: 'Description',
  url: 'Base URL path',
  status: 'Status',
  tags: 'Tags',
  owner: 'Owner',
  platformType: 'Platform type',
  gitUrl: 'Git repository URL',
  gitCredential: 'Git credential',
}

/** A technical name made of a display name, as the service makes those of webhooks: its lower-case ASCII letters and digits. */
const slugOf = (displayName: string): string =>
  displayName
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** Another display name. The technical name follows it until the person types one. */
export const renamed = (draft: ApiDraft, displayName: string): ApiDraft => ({
  ...draft,
  displayName,
  ...(draft.name === slugOf(draft.displayName) && { name: slugOf(displayName) }),
})

/** The fields of the form, for the errors of the service. */
export const FIELDS = { labels: LABELS, codes: { 'api-name-taken': 'name' } }

/** The form with its required fields. @throws RequestFailed when one is empty */
export function complete(draft: ApiDraft): ApiDraft {
  requireFields(draft, 'name', 'displayName')
  return draft
}

export const EMPTY_DRAFT: ApiDraft = {
  name: '',
  displayName: '',
  description: '',
  url: '',
  status: 'ACTIVE',
  tags: [],
  owner: '',
  platformType: '',
  gitUrl: '',
  gitCredential: '',
}

export const draftOf = (api: Schemas['Api']): ApiDraft => ({
  name: api.name,
  displayName: api.displayName,
  description: api.description ?? '',
  url: api.url ?? '',
  status: api.status,
  tags: api.tags,
  owner: api.owner ?? '',
  platformType: api.platformType ?? '',
  gitUrl: api.gitUrl ?? '',
  gitCredential: api.gitCredential ?? '',
})

/** The body of a request. Without an owner, a new API gets the caller, and another keeps its owner. */
export const inputOf = (draft: ApiDraft): Schemas['ApiInput'] => ({
  name: draft.name,
  displayName: draft.displayName,
  status: draft.status,
  tags: draft.tags,
  description: draft.description || null,
  url: draft.url || null,
  platformType: draft.platformType || null,
  gitUrl: draft.gitUrl || null,
  gitCredential: draft.gitCredential.trim() || null,
  ...(draft.owner.trim() && { owner: draft.owner.trim() }),
})

export const sameDraft = (one: ApiDraft, other: ApiDraft) => JSON.stringify(one) === JSON.stringify(other)
