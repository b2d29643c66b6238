import type { UserName } from '@gantry/contracts'
import type { PersonalFields } from './lines.ts'
import type { AuditKey, AuditKeySet, AuditSigner } from './statements.ts'

/** The keys that sign audit proofs. */
export interface AuditKeys {
  /** The key that signs now. @throws Error when it cannot be unsealed with ENCRYPTION_KEY */
  signer(): Promise<AuditSigner>
  /** All public keys that ever were, so that old proofs can be verified for ever. */
  published(): Promise<AuditKeySet>
  /** When the first key was made, ISO 8601 UTC, as its sealed part says; undefined before there is a key. */
  since(): Promise<string | undefined>
  /**
   * The published keys whose private part ENCRYPTION_KEY decrypts, so that only its holder can have put them into the
   * log.
   */
  own(): Promise<readonly AuditKey[]>
}

/** Encrypts and authenticates with a key that is derived from ENCRYPTION_KEY. */
export interface Seal {
  seal(text: string): string
  /** @throws Error when the text was sealed with another key, or was changed */
  open(sealed: string): Uint8Array
}

/** The names of users by id. Unknown and erased users are left out. */
export type NamesOf = (ids: readonly string[]) => Promise<ReadonlyMap<string, UserName>>

/**
 * Decrypts the personal fields of a changed user; undefined when there are none, or the user is erased.
 * @throws UserKeyMissing
 * @throws UserKeysUnavailable
 */
export type PersonalFieldsOf = (change: {
  /** Id of the user. */
  resourceId: string
  sealed: string | null
}) => Promise<PersonalFields | undefined>

/**
 * Decrypts the network address of a user; null when the user is erased.
 * @throws UserKeyMissing
 * @throws UserKeysUnavailable
 */
export type AddressOf = (user: string, sealed: string) => Promise<string | null>

/** The store of keys lacks a key that it once had, so it is another store or an old copy. */
export class UserKeyMissing extends Error {
  constructor(user: string) {
    super(`the store of user keys has no key of user ${user}: restore it from a backup`)
    this.name = 'UserKeyMissing'
  }
}
