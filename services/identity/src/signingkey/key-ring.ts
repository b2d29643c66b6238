import { aggregate, type CommandMetadata } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-runtime'
import { type SigningKeys, signingKeys } from './keys.ts'
import { type KeyRotation, type KeyRotationOptions, keyRotation } from './rotation.ts'
import {
  auditKeyDecider,
  type KeyRing,
  type SigningKeyCommand,
  type SigningKeyEvent,
  signingKeyDecider,
} from './signingkey.ts'

/** The rings, each with its stream, the name of its worker, and what separates its sealed keys from those of the other. */
const RINGS = {
  login: {
    category: 'signingkey',
    decider: signingKeyDecider,
    name: 'identity.signing-keys',
    purpose: 'signing keys',
  },
  audit: {
    category: 'auditkey',
    decider: auditKeyDecider,
    name: 'identity.audit-keys',
    purpose: 'audit keys',
  },
} as const

/** The keys of one ring. */
export function keysOf(
  ring: keyof typeof RINGS,
  { eventStore, unknownEvent, encryptionKeys, now }: Instrumented,
  metadata: () => CommandMetadata,
): SigningKeys {
  const { category, decider, purpose } = RINGS[ring]
  return signingKeys({
    ring: aggregate<KeyRing, SigningKeyCommand, SigningKeyEvent>({
      eventStore,
      unknownEvent,
      category,
      decider,
    }),
    purpose,
    encryptionKeys,
    now,
    metadata,
  })
}

/** The rotation of one ring. */
export const rotationOf = (
  ring: keyof typeof RINGS,
  options: Omit<KeyRotationOptions, 'name'>,
): KeyRotation => keyRotation({ ...options, name: RINGS[ring].name })
