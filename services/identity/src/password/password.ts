import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { type Derive, type HashRequest, hashingThreads } from './hashing.ts'

/** Hashes passwords with argon2id (RFC 9106). A hash is a PHC string `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
export interface Passwords {
  /** @throws Refusal too-many-requests when the hash does not start within 15 s */
  hash(password: string): Promise<string>
  /**
   * @param hash a result of `hash`; null for no password, which is false after the same time as a wrong password
   * @throws Refusal too-many-requests when the check does not start within 3 s
   */
  verify(password: string, hash: string | null, client: Client): Promise<boolean>
}

/** Who asks for a check: logins from one address, and for one user name, share the time of the processors. */
type Client = Pick<HashRequest, 'address' | 'name'>

interface Cost {
  /** In KiB. */
  memory: number
  passes: number
  parallelism: number
}

/** The first choice in the section "Argon2id" of the OWASP Password Storage Cheat Sheet. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Maximum number of concurrent hashes: half of the processors, so that logins leave the other half to other requests. */
const CONCURRENT = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)))
const LOGIN_WAIT_MS = 3_000
/** For authenticated callers who set a password: less than the time after which the gateway gives up. */
const HASH_WAIT_MS = 15_000

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '')

const phc = ({ memory, passes, parallelism }: Cost, salt: Uint8Array, hash: Uint8Array) =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`

function parse(text: string): { cost: Cost; salt: Buffer; hash: Buffer } {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(text)
  if (!parts) throw new Error('a password hash is not an argon2id PHC string')
  const [, memory, passes, parallelism, salt = '', hash = ''] = parts
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') }
}

/**
 * @param derive computes a hash. Default: threads
 * @param cost of new hashes, and of a check for a user without a hash
 */
export function argon2idPasswords(derive: Derive = hashingThreads(CONCURRENT), cost: Cost = COST): Passwords {
  const dummy = phc(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES))

  /** Hashes the NFKC form, so that a password matches when another keyboard encodes its characters differently. */
  const compute = (
    password: string,
    { cost, salt, length }: { cost: Cost; salt: Buffer; length: number },
    request: HashRequest,
  ) =>
    derive(
      {
        algorithm: 'argon2id',
        parameters: { ...cost, message: password.normalize('NFKC'), nonce: salt, tagLength: length },
      },
      request,
    )

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      const request = { address: '', name: '', waitMs: HASH_WAIT_MS }
      return phc(cost, salt, await compute(password, { cost, salt, length: HASH_BYTES }, request))
    },
    async verify(password, stored, client) {
      const { hash, ...made } = parse(stored ?? dummy)
      const request = { ...client, waitMs: LOGIN_WAIT_MS }
      const computed = await compute(password, { ...made, length: hash.length }, request)
      return timingSafeEqual(computed, hash) && stored !== null
    },
  }
}
