import type { Aggregate, CommandMetadata } from '@gantry/event-sourcing'
import { deriveKey } from '@gantry/service-kit'
import type { Passwords } from './login/password.ts'
import type { UserCommand } from './user/user.decide.ts'
import type { UserEvent, UserState } from './user/user.ts'

export interface FirstAdministrator {
  username: string
  /** Generated when it is left out. */
  password?: string | undefined
  /** Hears of the credentials before the user comes to exist, so that no crash leaves one whom nobody knows. */
  announce?(credentials: { username: string; password: string | undefined }): void
}

export type EnsureAdministrator = (wanted: FirstAdministrator) => Promise<{
  created: boolean
  username: string
  /** The generated one, of a user that was created. */
  password?: string
}>

/** Every user is made by another, except this one: whether it ever existed tells whether this is the first start. */
const ID = 'a3a1f1d0-5f0e-4b5c-9c39-0d6f2b1e7a01'
/** Crockford's alphabet: no i, l, o or u to be misread. */
const READABLE = '0123456789abcdefghjkmnpqrstvwxyz'

export function firstAdministrator(options: {
  user: Aggregate<UserState, UserCommand, UserEvent>
  passwords: Passwords
  encryptionKey: Uint8Array
  metadata(): CommandMetadata
}): EnsureAdministrator {
  const { user, passwords, encryptionKey, metadata } = options

  return async ({ username, password: given, announce }) => {
    const { state } = await user.load(ID)
    if (state.status !== 'Absent') return { created: false, username }
    const password = given ?? generated(encryptionKey)
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

/** Made from the key alone: of replicas that start together, and of one that starts again, all say the same. */
function generated(encryptionKey: Uint8Array): string {
  const bytes = deriveKey(encryptionKey, 'password of the first administrator').subarray(0, 20)
  const letters = [...bytes].map(byte => READABLE[byte & 31])
  return [0, 5, 10, 15].map(from => letters.slice(from, from + 5).join('')).join('-')
}
