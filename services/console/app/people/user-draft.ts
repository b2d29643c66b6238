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

/** The fields of the form, for the errors of the service. */
export const FIELDS = { labels: LABELS, codes: { 'username-taken': 'username' } }

/** The value of a field for people to read. A password is not shown. */
export function textOf(value: UserDraft[keyof UserDraft], field: keyof UserDraft): string {
  if (field === 'password') return value === '' ? 'not changed' : 'a new password'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value
}
