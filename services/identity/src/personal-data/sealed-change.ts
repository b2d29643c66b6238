import { randomBytes } from 'node:crypto'
import { canonicalJson, type PersonalFieldsOf, sha256 } from '@gantry/audit'
import type { Change } from '@gantry/contracts'
import type { UserCiphers } from './user-ciphers.ts'

export type UserChange = Extract<Change, { resourceType: 'USER' }>
type UserSnapshot = NonNullable<UserChange['after']>

/** The fields of a user that are encrypted in the log. */
export type PersonalFields = {
  username: string
  displayName: string
  email: string | null
}

/** The personal fields of a user before and after a change; null where the user did not exist. */
interface PersonalChange {
  before: PersonalFields | null
  after: PersonalFields | null
  /** Part of the commitment. */
  salt: string
}

const SALT_BYTES = 32

/** A user without personal fields. */
export function withoutNames(user: UserSnapshot): UserSnapshot {
  const { username, displayName, email, ...rest } = user
  return rest
}

/** Undefined unless the user has all personal fields. */
const namesOf = (user: UserSnapshot | null) => {
  if (user?.username === undefined || user.displayName === undefined) return undefined
  const { username, displayName, email = null } = user
  return { username, displayName, email }
}

/**
 * The change as it is stored: personal fields are encrypted, and the salted commitment binds the audit records to them
 * without revealing them. An erased user has neither.
 */
export async function sealedChange(change: UserChange, ciphers: UserCiphers): Promise<UserChange> {
  const { before, after, resourceId: user } = change
  const stored = { ...change, before: before && withoutNames(before), after: after && withoutNames(after) }
  const [was, is] = [namesOf(before), namesOf(after)]
  if (!was && !is) return stored
  const salt = randomBytes(SALT_BYTES).toString('base64url')
  const text = canonicalJson({ before: was ?? null, after: is ?? null, salt })
  const sealed = await ciphers.seal(user, text)
  if (sealed === null) return stored
  return { ...stored, personal: { sealed, commitment: sha256(text) } }
}

/** Decrypts what audit records have of users. */
export const opening = (ciphers: UserCiphers) => ({
  personalOf: personalFields(ciphers),
  addressOf: ciphers.open,
})

/** Decrypts the personal fields of stored changes of users. */
const personalFields =
  (ciphers: UserCiphers): PersonalFieldsOf =>
  async ({ resourceId, sealed }) => {
    const text = sealed === null ? null : await ciphers.open(resourceId, sealed)
    return text === null ? undefined : (JSON.parse(text) as PersonalChange)
  }
