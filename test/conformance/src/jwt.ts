import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign, verify } from 'node:crypto'

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

/** Header and claims, without verification. */
export const readJwt = (token: string): { header: Record<string, unknown>; claims: Claims } => {
  const [header, claims] = token.split('.')
  return { header: decode(header), claims: decode(claims) }
}

/** Whether the key with the token's kid verifies it: RFC 7515 with EdDSA (RFC 8037). */
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

const compact = (header: object, claims: object, signatureOf: (content: Buffer) => Buffer) => {
  const content = `${encode(header)}.${encode(claims)}`
  return `${content}.${signatureOf(Buffer.from(content)).toString('base64url')}`
}

/** Signed with RS256 by the private key in PEM; without a key, `alg: none`. */
export const makeJwt = (claims: object, privateKey?: string) =>
  privateKey
    ? compact({ alg: 'RS256', typ: 'JWT' }, claims, content => sign('sha256', content, privateKey))
    : compact({ alg: 'none', typ: 'JWT' }, claims, () => Buffer.alloc(0))

/** The same token, signed by another key of the same kind (EdDSA). */
export const signedByAnother = (token: string) => {
  const { header, claims } = readJwt(token)
  const { privateKey } = generateKeyPairSync('ed25519')
  return compact(header, claims, content => sign(null, content, privateKey))
}

/** The same token, signed with HS256 and the public key as the secret (RFC 8725 §2.1). */
export const signedByPublicKey = (token: string, jwks: Jwks) => {
  const { header, claims } = readJwt(token)
  const key = jwks.keys.find(({ kid }) => kid === header.kid)
  const secret = Buffer.from(key?.x ?? '', 'base64url')
  return compact({ ...header, alg: 'HS256' }, claims, content =>
    createHmac('sha256', secret).update(content).digest(),
  )
}

/** The same token with changed claims and the original signature. */
export const tamper = (token: string, changes: object) => {
  const [header, claims, signature] = token.split('.')
  return `${header}.${encode({ ...decode(claims), ...changes })}.${signature}`
}
