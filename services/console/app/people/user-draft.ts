import type { Schemas } from '../http/schemas.ts'

/** What a person types about a user. An empty text is an absent field. */
export interface UserDraft {
  username: string
  displayName: string
  email: string
  role: Schemas['Role']
  status: Schemas['User']['status']
  sso: boolean
  password: string
}

export const NEW_USER: UserDraft = {
  username: '',
  displayName: '',
  email: '',
  role: 'USER',
  status: 'ACTIVE',
  sso: false,
  password: '',
}

export const draftOf = ({ username, displayName, email, role, status, sso }: Schemas['User']): UserDraft => ({
  username,
  displayName,
  email: email ?? '',
  role,
  status,
  sso,
  password: '',
})

/** The body of a request. The service fills in a display name that is left out. */
export const bodyOf = ({ displayName, email, password, ...draft }: UserDraft): Schemas['UserInput'] => ({
  ...draft,
  displayName: displayName.trim() || null,
  email: email.trim() || null,
  password: password || null,
})

export const LABELS: Readonly<Record<keyof UserDraft, string>> = {
  username: 'User name',
  displayName: 'Display name',
  email: 'Email',
  role: 'Role',
  status: 'Status',
  sso: 'Single sign-on',
  password: 'Password',
}

/** Fields of problems that do not name them. */
export const FIELDS_OF_CODES = { 'username-taken': 'username' }

/** A field that somebody else has changed since this person began to edit. */
export interface Conflict {
  field: keyof UserDraft
  current: string
  mine: string
}

/** The fields that another change has set to something else than the draft has. A password is not compared. */
export function conflictsOf(draft: UserDraft, base: UserDraft, current: UserDraft): Conflict[] {
  const fields = (Object.keys(LABELS) as (keyof UserDraft)[]).filter(
    field => field !== 'password' && base[field] !== current[field] && draft[field] !== current[field],
  )
  return fields.map(field => ({ field, current: String(current[field]), mine: String(draft[field]) }))
}

/** The current record with the fields that this person has changed. */
export function rebased(draft: UserDraft, base: UserDraft, current: UserDraft): UserDraft {
  const changed = Object.entries(draft).filter(([field, value]) => base[field as keyof UserDraft] !== value)
  return { ...current, ...Object.fromEntries(changed) }
}
