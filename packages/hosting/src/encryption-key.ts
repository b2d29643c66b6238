import { randomUUID } from 'node:crypto'
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '@gantry/event-sourcing'
import { fingerprint, SettingsRefused } from '@gantry/service-kit'

const STREAM = 'encryptionkey-fingerprint'

/**
 * Whether the log was begun with this key; the first process writes down which it is. With another, what is sealed in
 * the log could not be read, and what would be sealed from now on by nobody else.
 * @throws SettingsRefused when it is another
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
      'ENCRYPTION_KEY: is not the one that this log was begun with: its secrets could not be read, and nothing was changed',
    )
  const id = randomUUID()
  const metadata = { actor: { id: null, name: service }, requestId: id, at: now().toISOString() }
  const event = { id, type: 'EncryptionKeyChosen', data: { fingerprint: own }, metadata }
  try {
    await eventStore.append(STREAM, [event], NO_STREAM)
  } catch (error) {
    // Another process was first, and it counts which key that has.
    if (!(error instanceof WrongExpectedRevision)) throw error
    await checkEncryptionKey(eventStore, encryptionKey, { service, now })
  }
}
