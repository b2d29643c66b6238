import type { CommandMetadata, Log } from '@gantry/event-sourcing'
import type { LiveUser } from '../user/user.ts'
import type { LiveToken, TokenAggregate } from './token.ts'

export interface TokenUsesOptions {
  token: TokenAggregate
  metadata(): CommandMetadata
  log: Log
}

export interface TokenUses {
  /** Starts to record the use of a token by its owner. A failure is logged. */
  note(token: LiveToken, owner: LiveUser): void
  /** Waits until the uses that were noted before are recorded. */
  recorded(): Promise<void>
}

/** Records the uses of access tokens, at most one per token at a time: concurrent ones would have nothing to record. */
export function tokenUses({ token, metadata, log }: TokenUsesOptions): TokenUses {
  const underWay = new Map<string, Promise<void>>()
  return {
    note({ record: { id } }, { record: owner }) {
      if (underWay.has(id)) return
      const actor = { id: owner.id, name: owner.id, tokenId: id }
      const noted = token
        .execute(id, { type: 'NoteUse', metadata: { ...metadata(), actor } })
        .catch(error => log.warn({ err: error, token: id }, 'a use of an access token was not recorded'))
        .then(() => void underWay.delete(id))
      underWay.set(id, noted)
    },
    async recorded() {
      await Promise.all(underWay.values())
    },
  }
}
