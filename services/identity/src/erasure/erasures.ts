import { eraseUser, type Principal, Refusal, SCOPES } from '@gantry/contracts'
import { type CommandMetadata, type Log, supervise, type Worker } from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { AddRoute } from '@gantry/service-runtime'
import type { ReadModels, UserKeys } from '@gantry/stores'
import type { UserCiphers } from '../personal-data/user-ciphers.ts'
import { tokens } from '../token/token.projection.ts'
import type { ChangeToken } from '../token/token.routes.ts'
import type { UserAggregate } from '../user/user.decide.ts'
import { erasedUsers } from '../user/user.projection.ts'
import type { ChangeUser } from '../user/user.routes.ts'

/** The erasure of a user as a caller requests it. */
interface RequestedErasure {
  metadata: CommandMetadata
  by: Pick<Principal, 'role' | 'scopes'>
  ifMatch: number[] | undefined
}

export interface Erasures {
  /**
   * Erases a user: appends `UserDeleted` and `UserErased`, revokes the user's tokens and deletes the key. Repeating it
   * completes what an earlier call left out, and changes nothing else.
   * @returns the time of the first erasure, and the revision of the user's stream
   * @throws Refusal as deletion does
   * @throws UserKeysUnavailable when the events are appended, and the key is deleted later
   */
  erase(id: string, requested: RequestedErasure): Promise<{ erasedAt: string; revision: number }>
  /** Starts to compare the log and the store of keys, and to complete in each what only the other one has. */
  start(): Worker
}

export interface ErasuresOptions {
  user: UserAggregate
  changeUser: ChangeUser
  changeToken: ChangeToken
  readModels: ReadModels
  keys: { ciphers: UserCiphers; store: UserKeys }
  metadata(): CommandMetadata
  log: Log
}

const COMPARED_EVERY_MS = 60_000
const PAGE = 100
/** The service itself may erase every user. */
const SERVICE: RequestedErasure['by'] = { role: 'GLOBAL_ADMIN', scopes: [...SCOPES] }

/**
 * The order of the steps makes every crash recoverable: the events come first, so that a deleted key is always explained by
 * the log, and the record in the store of keys comes last, so that a missing record shows an incomplete erasure. The record
 * also outlives a restore: an older log gets the events again, and an older store of keys loses the key again.
 */
export function erasuresOf(options: ErasuresOptions): Erasures {
  const { user, changeUser, changeToken, readModels, keys, metadata, log } = options
  const ofUsers = readModels.collection(tokens)
  /** The erasures in the log. */
  const recorded = readModels.collection(erasedUsers)

  /** @returns false when the token was revoked already: its document is about to disappear */
  const revoke = async (id: string, userId: string): Promise<boolean> => {
    try {
      await changeToken(id, { type: 'RevokeToken', metadata: metadata(), userId })
      return true
    } catch (error) {
      if (error instanceof Refusal && error.code === 'access-token-not-found') return false
      throw error
    }
  }

  const revokeTokens = async (userId: string) => {
    for (let revoked = true; revoked; ) {
      revoked = false
      for (const { doc } of await ofUsers.list({ where: { userId }, limit: PAGE }))
        if (await revoke(doc.id, userId)) revoked = true
    }
  }

  /** The steps after the events. */
  const complete = async (id: string, erasedAt: string): Promise<string> => {
    await revokeTokens(id)
    await readModels.purge()
    return keys.ciphers.erase(id, erasedAt)
  }

  const erase: Erasures['erase'] = async (id, requested) => {
    const { state, revision } = await changeUser(id, { type: 'EraseUser', ...requested })
    if (state.status !== 'Erased' || state.erasedAt === null) throw new Error('the erasure was not recorded')
    return { erasedAt: await complete(id, state.erasedAt), revision }
  }

  /** Appends the erasure of a user to a log that lacks it. */
  const restore = async (id: string) => {
    const { state } = await user.load(id)
    if (state.status === 'Absent' || (state.status === 'Erased' && state.erasedAt !== null)) return
    await erase(id, { metadata: metadata(), by: SERVICE, ifMatch: undefined })
    log.info({ user: id }, 'a user was erased again: the log was restored from a backup')
  }

  const compare = async () => {
    const erased = new Set<string>()
    for await (const { user: id } of keys.store.erased()) erased.add(id)
    const inLog = new Set<string>()
    for await (const id of recorded.ids()) {
      inLog.add(id)
      const stored = erased.has(id) ? undefined : await recorded.get(id)
      if (stored) await complete(id, stored.doc.erasedAt)
    }
    for (const id of erased) {
      if (inLog.has(id)) continue
      await restore(id).catch(error => {
        if (!(error instanceof Refusal)) throw error
        log.error({ user: id, err: error }, 'a user could not be erased again')
      })
    }
  }

  return {
    erase,
    start: () =>
      supervise('identity.erasures', log, async signal => {
        while (!signal.aborted) {
          await compare()
          await sleep(COMPARED_EVERY_MS, { signal })
        }
      }),
  }
}

export interface ErasureRoutes {
  erasures: Erasures
  /** How long backups of the store of user keys are kept, in milliseconds. */
  backupRetentionMs: number
}

export function erasureRoutes(route: AddRoute, { erasures, backupRetentionMs }: ErasureRoutes): void {
  route(eraseUser, async ({ params, metadata, principal, ifMatch }) => {
    const { user_id: id } = params
    const { erasedAt, revision } = await erasures.erase(id, { metadata, by: principal, ifMatch })
    const backupsErasedAt = new Date(Date.parse(erasedAt) + backupRetentionMs).toISOString()
    return { status: 200, body: { id, erasedAt, backupsErasedAt }, revision }
  })
}
