import { randomUUID } from 'node:crypto'
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '@gantry/event-sourcing'
import { fingerprint, SettingsRefused } from '@gantry/service-kit'

const STREAM = 'encryptionkey-fingerprint'

/**
 * Checks that the log was created with this key. The first process appends the fingerprint of its key to the log. With
 * another key a service could not decrypt the secrets in the log, and other services could not decrypt its new ones.
 * @throws SettingsRefused when the log was created with another key
 */
export async function checkEncryptionKey(
  eventStore: EventStore,
  encryptionKey: Uint8Array,
  { service, now }: { service: string; now(): Date },
): Promise<void> {
  const [begun] = await eventStore.readStream(STREAM)
  const own = fingerprint(encryptionKey)
  if (begun?.data.fingerprint === own) return
  if (begun)
    throw new SettingsRefused(
      'ENCRYPTION_KEY: is not the key that this log was created with, so its secrets cannot be decrypted; nothing was changed',
    )
  const id = randomUUID()
  const metadata = { actor: { id: null, name: service }, requestId: id, at: now().toISOString() }
  const event = { id, type: 'EncryptionKeyChosen', data: { fingerprint: own }, metadata }
  try {
    await eventStore.append(STREAM, [event], NO_STREAM)
  } catch (error) {
    // Another process was first: its key counts.
    if (!(error instanceof WrongExpectedRevision)) throw error
    await checkEncryptionKey(eventStore, encryptionKey, { service, now })
  }
}
