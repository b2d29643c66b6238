import { Refusal, type Reseal, type Resealed } from '@gantry/contracts'
import {
  type EventStore,
  heldStreams,
  listHeld,
  type Projector,
  StreamQuarantined,
  streamCategory,
  streamId,
} from '@gantry/event-sourcing'
import { EncryptionKeyMissing, type EncryptionKeys, firstInUse } from '@gantry/service-runtime'
import type { ReadModels } from '@gantry/stores'
import type { SigningKeys } from './signing.ts'
import type { Webhooks } from './webhooks.ts'

const PAGE = 200
const TIMEOUT_MS = 3_000

export interface Resealing {
  webhooks: Webhooks
  projector: Pick<Projector, 'name' | 'reached'>
  readModels: ReadModels
  eventStore: Pick<EventStore, 'head'>
  keys: SigningKeys
  encryptionKeys: EncryptionKeys
}

/** Seals again the secrets of a page of webhooks that a key other than the first of ENCRYPTION_KEY has sealed. */
export function resealing({ webhooks, projector, readModels, eventStore, keys, encryptionKeys }: Resealing) {
  /** @returns whether a secret was sealed again @throws EncryptionKeyMissing, StreamQuarantined */
  const reseal = async (id: string): Promise<boolean> => {
    const { state } = await webhooks.load(id)
    if (state.status !== 'Live') return false
    const now = webhooks.metadata().now
    const valid = state.secrets.filter(({ until }) => until === null || until > now)
    const renewed = new Map(valid.map(({ sealed }) => [sealed, keys.renewed(sealed)]))
    return (await webhooks.issue(id, { type: 'ResealSecrets', renewed })).events.length > 0
  }

  /** Webhooks that the list lacks, because the projector holds their first events. */
  const unlisted = async (): Promise<string[]> => {
    const ids: string[] = []
    for await (const { id: stream } of listHeld(heldStreams(projector.name), readModels))
      if (streamCategory(stream) === 'webhook' && !(await webhooks.documents.get(streamId(stream))))
        ids.push(streamId(stream))
    return ids
  }

  return async ({ after, fingerprint }: Reseal): Promise<Resealed> => {
    const key = firstInUse(encryptionKeys)
    if (fingerprint !== undefined && fingerprint !== key.fingerprint)
      return { key, examined: 0, resealed: 0, failed: [], next: null }
    // The list would lack webhooks that are not projected yet.
    if (after === null && !(await projector.reached(await eventStore.head(), TIMEOUT_MS)))
      throw new Refusal('unavailable', { detail: 'the read models do not have the latest webhooks yet' })
    const found = await webhooks.documents.list({
      ...(after !== null && { where: { id: { gt: after } } }),
      sort: [{ field: 'id', direction: 'asc' }],
      limit: PAGE,
    })
    const ids = [...(after === null ? await unlisted() : []), ...found.map(({ doc }) => doc.id)]
    const failed: string[] = []
    let resealed = 0
    for (const id of ids) {
      try {
        if (await reseal(id)) resealed++
      } catch (error) {
        if (!(error instanceof StreamQuarantined || error instanceof EncryptionKeyMissing)) throw error
        failed.push(`webhook ${id}`)
      }
    }
    const next = found.length < PAGE ? null : (found.at(-1)?.doc.id ?? null)
    return { key, examined: ids.length, resealed, failed, next }
  }
}
