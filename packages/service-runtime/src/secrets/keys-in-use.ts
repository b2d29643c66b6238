import {
  aggregate,
  type CommandMetadata,
  type Decider,
  type DomainCommand,
  type EventStore,
} from '@gantry/event-sourcing'
import { SettingsRefused } from '../settings/settings.ts'
import { type EncryptionKeys, firstInUse, type KeyInUse, missingKeys } from './encryption-keys.ts'

/** The keys that secrets in the stores are sealed with, by their fingerprints. They have one stream. */
type KeysInUse = readonly KeyInUse[]
const STREAM = 'fingerprint'

interface KeyEvent {
  type: 'EncryptionKeyChosen' | 'EncryptionKeyRetired'
  data: KeyInUse
}

interface KeyCommand extends DomainCommand {
  type: 'UseKeys' | 'RetireOtherKeys'
  keys: EncryptionKeys
}

const decider: Decider<KeysInUse, KeyCommand, KeyEvent> = {
  initial: [],
  events: { EncryptionKeyChosen: [], EncryptionKeyRetired: [] },
  decide(inUse, { type, keys }) {
    const first = firstInUse(keys)
    const others = inUse.filter(key => key.fingerprint !== first.fingerprint)
    if (type === 'RetireOtherKeys') return others.map(data => ({ type: 'EncryptionKeyRetired', data }))
    requireAll(keys, inUse)
    return others.length < inUse.length ? [] : [{ type: 'EncryptionKeyChosen', data: first }]
  },
  evolve(inUse, { type, data }) {
    const others = inUse.filter(({ fingerprint }) => fingerprint !== data.fingerprint)
    return type === 'EncryptionKeyChosen' ? [...others, data] : others
  },
}

function requireAll(keys: EncryptionKeys, inUse: KeysInUse): void {
  const [missing] = missingKeys(keys, inUse)
  if (missing)
    throw new SettingsRefused(
      `ENCRYPTION_KEY: lacks key ${missing.id}, which secrets of this log are encrypted with; nothing was changed`,
    )
}

const streamIn = (eventStore: EventStore) => aggregate({ eventStore, category: 'encryptionkey', decider })

/**
 * Checks that there is every key that secrets in the stores are sealed with.
 * @throws SettingsRefused when a key is missing; it names the key
 */
export async function requireEncryptionKeys(eventStore: EventStore, keys: EncryptionKeys): Promise<void> {
  requireAll(keys, (await streamIn(eventStore).load(STREAM)).state)
}

/**
 * Checks the keys, and records the first one before it seals.
 * @throws SettingsRefused when a key is missing; it names the key, and nothing is changed
 */
export async function useEncryptionKeys(
  eventStore: EventStore,
  keys: EncryptionKeys,
  metadata: CommandMetadata,
): Promise<void> {
  const stream = streamIn(eventStore)
  await stream.load(STREAM)
  await stream.execute(STREAM, { type: 'UseKeys', metadata, keys })
}

/**
 * Records that no stored secret is sealed with any key but the first one, which must be true.
 * @returns ids of the keys that are no longer in use
 */
export async function retireEncryptionKeys(
  eventStore: EventStore,
  keys: EncryptionKeys,
  metadata: CommandMetadata,
): Promise<string[]> {
  const { events } = await streamIn(eventStore).execute(STREAM, { type: 'RetireOtherKeys', metadata, keys })
  return events.map(({ data }) => data.id)
}
