import { Refusal, type Reseal, type Resealed } from '@gantry/contracts'
import { type CommandMetadata, StreamQuarantined } from '@gantry/event-sourcing'
import {
  type Dependencies,
  EncryptionKeyMissing,
  type EncryptionKeys,
  firstInUse,
  ownMetadata,
  retireEncryptionKeys,
} from '@gantry/service-runtime'
import type { UserKeys } from '@gantry/stores'
import type { UserCiphers } from './personal-data/user-ciphers.ts'
import type { SigningKeys } from './signingkey/keys.ts'

const PAGE = 200

export interface Resealing {
  /** Signing keys by what a failure calls them. */
  rings: Readonly<Record<string, Pick<SigningKeys, 'reseal'>>>
  ciphers: UserCiphers
  userKeys: UserKeys
  encryptionKeys: EncryptionKeys
  metadata(actor: string): CommandMetadata
}

/**
 * Seals again what a key other than the first of ENCRYPTION_KEY has sealed: signing keys, then pages of the keys of
 * users.
 */
export function resealing({ rings, ciphers, userKeys, encryptionKeys, metadata }: Resealing) {
  return async ({ after, fingerprint }: Reseal): Promise<Resealed> => {
    const key = firstInUse(encryptionKeys)
    if (fingerprint !== undefined && fingerprint !== key.fingerprint)
      return { key, examined: 0, resealed: 0, failed: [], next: null }
    const counted = { examined: 0, resealed: 0 }
    const failed: string[] = []
    const count = async (what: string, work: () => Promise<{ examined: number; resealed: number }>) => {
      try {
        const { examined, resealed } = await work()
        counted.examined += examined
        counted.resealed += resealed
      } catch (error) {
        if (!(error instanceof EncryptionKeyMissing || error instanceof StreamQuarantined)) throw error
        failed.push(what)
      }
    }
    if (after === null)
      for (const [name, keys] of Object.entries(rings))
        await count(name, () => keys.reseal(metadata('reseal')))
    const found = await userKeys.list(after ?? '', PAGE)
    for (const { user, key } of found)
      await count(`user ${user}`, async () => ({
        examined: 1,
        resealed: (await ciphers.reseal(user, key)) ? 1 : 0,
      }))
    const next = found.length < PAGE ? null : (found.at(-1)?.user ?? null)
    return { key, ...counted, failed, next }
  }
}

/** Records at the request of an operator that only the first key of ENCRYPTION_KEY is in use. */
export const retiring = (dependencies: Dependencies) => async (asked: { fingerprint: string }) => {
  const { eventStore, encryptionKeys } = dependencies
  if (asked.fingerprint !== firstInUse(encryptionKeys).fingerprint)
    throw new Refusal('write-conflict', {
      detail: 'the first key of ENCRYPTION_KEY differs between replicas',
    })
  const metadata = ownMetadata(dependencies, 'identity')
  return { retired: await retireEncryptionKeys(eventStore, encryptionKeys, metadata) }
}
