import { listSigningKeys, type SigningKeyRecord } from '@gantry/contracts'
import type { AddRoute } from '@gantry/service-kit'
import { publicJwk } from './key-material.ts'
import type { KeyState, SigningKeys } from './keys.ts'

export interface SigningKeyRoutes {
  login: SigningKeys
  audit: SigningKeys
}

export function signingKeyRoutes(route: AddRoute, { login, audit }: SigningKeyRoutes): void {
  route(listSigningKeys, async () => ({
    status: 200,
    body: [
      ...(await login.states()).map(key => recordOf(key, 'LOGIN')).reverse(),
      // A retired key of audit proofs verifies for ever: proofs are kept.
      ...(await audit.states())
        .map(key => ({ ...recordOf(key, 'AUDIT'), acceptedUntil: key.revokedAt }))
        .reverse(),
    ],
  }))
}

const recordOf = ({ x, ...key }: KeyState, purpose: SigningKeyRecord['purpose']): SigningKeyRecord => ({
  ...key,
  purpose,
  publicKey: publicJwk(x) as SigningKeyRecord['publicKey'],
})
