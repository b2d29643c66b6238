import { randomUUID } from 'node:crypto'
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '@gantry/event-sourcing'
import {
  type EncryptionKeys,
  firstInUse,
  type KeyInUse,
  missingKeys,
  SettingsRefused,
} from '@gantry/service-runtime'

/** The keys that secrets in the stores are sealed with, by their fingerprints. */
const STREAM = 'encryptionkey-fingerprint'

interface About {
  /** Name of the service that records the change. */
  service: string
  now(): Date
}

/**
 * Checks that there is every key that secrets in the stores are sealed with, and records the first one before it seals.
 * @throws SettingsRefused when a key is missing; it names the key, and nothing is changed
 */
export async function checkEncryptionKeys(
  eventStore: EventStore,
  keys: EncryptionKeys,
  about: About,
): Promise<void> {
  const { inUse, revision } = await recorded(eventStore)
  const [missing] = missingKeys(keys, inUse)
  if (missing)
    throw new SettingsRefused(
      `ENCRYPTION_KEY: lacks key ${missing.id}, which secrets of this log are encrypted with; nothing was changed`,
    )
  const first = firstInUse(keys)
  if (inUse.some(({ fingerprint }) => fingerprint === first.fingerprint)) return
  const added = await append(eventStore, revision, [{ type: 'EncryptionKeyChosen', data: first }], about)
  if (!added) await checkEncryptionKeys(eventStore, keys, about)
}

/**
 * Records that no stored secret is sealed with any key but the first one, which must be true.
 * @returns ids of the keys that are no longer in use
 */
export async function retireEncryptionKeys(
  eventStore: EventStore,
  keys: EncryptionKeys,
  about: About,
): Promise<string[]> {
  const { inUse, revision } = await recorded(eventStore)
  const { fingerprint } = firstInUse(keys)
  const retired = inUse.filter(key => key.fingerprint !== fingerprint)
  const events = retired.map(data => ({ type: 'EncryptionKeyRetired', data }))
  if (events.length > 0 && !(await append(eventStore, revision, events, about)))
    return retireEncryptionKeys(eventStore, keys, about)
  return retired.map(({ id }) => id)
}

async function recorded(eventStore: EventStore): Promise<{ inUse: KeyInUse[]; revision: number }> {
  const inUse = new Map<string, KeyInUse>()
  let revision = NO_STREAM
  for (const event of await eventStore.readStream(STREAM)) {
    revision = event.revision
    const key = event.data as unknown as KeyInUse
    if (event.type === 'EncryptionKeyChosen') inUse.set(key.fingerprint, key)
    if (event.type === 'EncryptionKeyRetired') inUse.delete(key.fingerprint)
  }
  return { inUse: [...inUse.values()], revision }
}

/** @returns false when another process has appended */
async function append(
  eventStore: EventStore,
  revision: number,
  facts: readonly { type: string; data: KeyInUse }[],
  { service, now }: About,
): Promise<boolean> {
  const requestId = randomUUID()
  const metadata = { actor: { id: null, name: service }, requestId, at: now().toISOString() }
  const events = facts.map(({ type, data }) => ({ id: randomUUID(), type, data: { ...data }, metadata }))
  try {
    await eventStore.append(STREAM, events, revision)
    return true
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error
    return false
  }
}
