import { createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto'

export interface Jwks {
  keys: (JsonWebKey & { kid: string; alg?: string })[]
}
interface Claims {
  iat: number
  exp: number
  [claim: string]: unknown
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))

/** Header and claims, not verified. */
export const readJwt = (token: string): { header: Record<string, unknown>; claims: Claims } => {
  const [header, claims] = token.split('.')
  return { header: decode(header), claims: decode(claims) }
}

/** RFC 7515 with EdDSA (RFC 8037): does a key of the set with the token's kid verify it? */
export const isSignedBy = (jwks: Jwks, token: string) => {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const key = jwks.keys.find(candidate => candidate.kid === decode(header).kid)
  return (
    key !== undefined &&
    verify(
      null,
      Buffer.from(`${header}.${claims}`),
      createPublicKey({ key, format: 'jwk' }),
      Buffer.from(signature, 'base64url'),
    )
  )
}

/** Signed with RS256 by the private key in PEM; without a key, `alg: none`. */
export const makeJwt = (claims: object, privateKey?: string) => {
  const content = `${encode({ alg: privateKey ? 'RS256' : 'none', typ: 'JWT' })}.${encode(claims)}`
  const signature = privateKey ? sign('sha256', Buffer.from(content), privateKey).toString('base64url') : ''
  return `${content}.${signature}`
}

/** The same token with other claims under the signature that it had. */
export const tamper = (token: string, changes: object) => {
  const [header, claims, signature] = token.split('.')
  return `${header}.${encode({ ...decode(claims), ...changes })}.${signature}`
}
