import type { CommandMetadata } from '@gantry/event-sourcing'
import { deriveKey, type EncryptionKeys } from '@gantry/service-runtime'
import type { Passwords } from './password/password.ts'
import type { UserAggregate } from './user/user.decide.ts'

export interface FirstAdministrator {
  username: string
  /** Default: a generated password. */
  password?: string | undefined
  /** Called before the user is created, so that a crash leaves no user with an unknown password. */
  announce?(credentials: { username: string; password: string | undefined }): void
}

export type EnsureAdministrator = (wanted: FirstAdministrator) => Promise<{
  created: boolean
  username: string
  /** The generated password, if this call created the user with one. */
  password?: string
}>

/** Id of the first administrator. It is fixed, so that its stream shows whether this is the first start. */
const ID = 'a3a1f1d0-5f0e-4b5c-9c39-0d6f2b1e7a01'
/** Crockford's base32 alphabet, which omits the ambiguous letters i, l, o and u. */
const READABLE = '0123456789abcdefghjkmnpqrstvwxyz'

export function firstAdministrator(options: {
  user: UserAggregate
  passwords: Passwords
  encryptionKeys: EncryptionKeys
  metadata(): CommandMetadata
}): EnsureAdministrator {
  const { user, passwords, encryptionKeys, metadata } = options

  return async ({ username, password: given, announce }) => {
    const { state } = await user.load(ID)
    if (state.status !== 'Absent') return { created: false, username }
    const password = given ?? generated(encryptionKeys)
    announce?.({ username, password: given === undefined ? password : undefined })
    const passwordHash = await passwords.hash(password)
    const { events } = await user.execute(ID, {
      type: 'CreateFirstAdministrator',
      metadata: metadata(),
      id: ID,
      username,
      passwordHash,
    })
    const created = events.length > 0
    return { created, username, ...(created && given === undefined && { password }) }
  }
}

/** A password derived from the first key alone, so that concurrent and repeated first starts announce the same one. */
function generated({ first }: EncryptionKeys): string {
  const bytes = deriveKey(first.bytes, 'password of the first administrator').subarray(0, 20)
  const letters = [...bytes].map(byte => READABLE[byte & 31])
  return [0, 5, 10, 15].map(from => letters.slice(from, from + 5).join('')).join('-')
}
