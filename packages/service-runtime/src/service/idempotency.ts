import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { PublicEvent, Refusal, subjects } from '@gantry/contracts'
import { nameUuids, type Reaction } from '@gantry/event-sourcing'
import { type Collection, defineCollection, type ReadModels } from '@gantry/stores'
import {
  deriveKey,
  type EncryptionKeys,
  fingerprint,
  firstInUse,
  type KeyInUse,
  seal,
  unseal,
} from '../secrets/encryption-keys.ts'
import type { WatchedEventStore } from './append-watch.ts'

/** The outcome of a request, complete enough to send the response again. */
interface Outcome {
  status: number
  headers: Record<string, string>
  body: unknown
}

/** A request with an idempotency key. */
export interface KeyUse {
  /** Caller and operation. The same key in another scope is another key. */
  scope: string
  key: string
  /** The rest of the request as text. The same key with another text is refused. */
  request: string
  /** Id of the caller. */
  user: string
  /** Id of the caller's credential. */
  credential: string
}

/** The answer to one request. */
interface Answered extends Outcome {
  /** Whether an earlier request had this outcome. */
  replayed: boolean
  /** Whether this request has the credential that first received the outcome. Only then the response may contain secrets. */
  first: boolean
}

/** `refused` and `unknown` are the states after a try without an outcome. Only `refused` proves that nothing was appended. */
type State = 'running' | 'done' | 'refused' | 'unknown'

interface Remembered {
  id: string
  /** Id of the caller. */
  user: string
  /** The UUIDs in the outcome, which include those of all users whose names it has. */
  mentioned: string[]
  /** HMAC of the idempotency key and the request, with a key from ENCRYPTION_KEY: the request may contain a password. */
  requestHash: string
  state: State
  /** Seed of the ids that are made with the key. It changes when the key is used again after it expired. */
  generation: number
  /** Id of the key of ENCRYPTION_KEY from which the keys of the record and secrets of the generation are derived. */
  encryptionKey: string
  /** Fingerprint of this key. It identifies the key, which can get another id. */
  keyFingerprint: string
  startedAt: number
  expiresAt: number
  /** The outcome, encrypted with a key from ENCRYPTION_KEY and the idempotency key, neither of which is stored. */
  sealed: string | null
}

/** The encrypted content: the outcome and the credential that first received it. */
interface Sealed extends Outcome {
  credential: string
}

/** Source of ids and secrets for one request. Every try with the same key gets the same ones, so that none creates twice. */
export interface Seed {
  commandId: string
  /** Whether the request has a key, i.e. whether the ids are derived from it. */
  keyed: boolean
  /** Whether an earlier try with the key may have appended the same events. */
  repeated: boolean
  newId(): string
  secretBytes(length: number): Buffer
}

export interface Idempotency {
  /**
   * Runs `handle` for the first request with a key and returns its outcome to later ones.
   * @throws Refusal request-in-progress, idempotency-key-reused
   */
  run(use: KeyUse, handle: (seed: Seed) => Promise<Outcome>): Promise<Answered>
}

const KEPT_MS = 24 * 3_600_000
/**
 * Generations are numbered by period. The tombstone of a removed record keeps its revision, from which the next generation
 * is made. Tombstones are dropped only after their period has ended.
 */
const PERIOD_MS = 30 * KEPT_MS
const REMOVALS_KEPT_MS = PERIOD_MS + 2 * KEPT_MS
const NUMBERS_OF_PERIOD = 2 ** 32
const FORGET_EVERY_MS = 3_600_000
/** Expired records are removed at every sixteenth call, or earlier at a call one second after the last removal. */
const EXPIRE_CALLS = 16
const EXPIRE_EVERY_MS = 1_000
/** Number of records that are removed together. */
const EXPIRE_MOST = 160
const PAGE = 100
/**
 * A request that has been running for longer counts as aborted: its process is assumed to have died. A start that is as far
 * in the future counts, too: the clock was set back.
 */
const ABANDONED_MS = 30_000
const requestUuid = nameUuids('3c1f6a53-93a1-4d41-9d1c-1e5b7c0f6a90')

export function idempotency(options: {
  service: string
  readModels: ReadModels
  eventStore: WatchedEventStore
  now(): Date
  encryptionKeys: EncryptionKeys
}): Idempotency {
  const { eventStore } = options
  const remembered = recordsOf(options)
  const secrets = derivedSecrets(options.encryptionKeys)
  const firstKey = firstInUse(options.encryptionKeys)
  const forgetExpired = forgettingExpired(remembered)

  return {
    async run({ scope, key, request, user, credential }, handle) {
      const id = hashOf(`${scope}\n${key}`)
      const hashOfRequest = (inUse: KeyInUse) =>
        hmacOfUse(secrets(inUse), 'request', key).update(request).digest('hex')
      const sealingKey = (inUse: KeyInUse) => hmacOfUse(secrets(inUse), 'outcome', key).update(id).digest()
      const now = options.now().getTime()
      const stored = await remembered.latest(id)
      const earlier = stored?.doc && stored.doc.expiresAt > now ? stored.doc : undefined
      if (earlier && earlier.state !== 'refused' && earlier.requestHash !== hashOfRequest(keyOf(earlier)))
        throw new Refusal('idempotency-key-reused')
      if (earlier?.state === 'done' && earlier.sealed) {
        const { credential: firstCredential, ...outcome } = unsealed(
          sealingKey(keyOf(earlier)),
          earlier.sealed,
        )
        return { ...outcome, replayed: true, first: credential === firstCredential }
      }
      if (earlier?.state === 'running' && Math.abs(now - earlier.startedAt) < ABANDONED_MS) throw inProgress()

      const repeated = earlier !== undefined && earlier.state !== 'refused'
      const usedKey = repeated ? keyOf(earlier) : firstKey
      const storedRevision = stored?.revision ?? 0
      const revision = storedRevision + 1
      const running: Remembered = {
        id,
        user,
        mentioned: [],
        requestHash: hashOfRequest(usedKey),
        state: 'running',
        // A removal leaves a tombstone with the revision, which is dropped only in a later period. So a new use of a key
        // never has the generation of an earlier use. If the record is lost, a retry in the same period gets the same one.
        generation: earlier?.generation ?? Math.floor(now / PERIOD_MS) * NUMBERS_OF_PERIOD + storedRevision,
        encryptionKey: usedKey.id,
        keyFingerprint: usedKey.fingerprint,
        startedAt: now,
        expiresAt: now + KEPT_MS,
        sealed: null,
      }
      if (!(await remembered.put(running, revision))) throw inProgress()

      const watched = { appends: 0 }
      let first: boolean
      let outcome: Outcome
      try {
        const seed = seedOf(secrets(usedKey), `${id}/${running.generation}`, repeated)
        outcome = await eventStore.watch(watched, () => handle(seed))
        const sealed = seal(sealingKey(usedKey), JSON.stringify({ ...outcome, credential } satisfies Sealed))
        const done: Remembered = { ...running, state: 'done', sealed, mentioned: uuidsOf(outcome.body) }
        // False if another request took over after ABANDONED_MS. Then only the response to that one has the secrets.
        first = await remembered.put(done, revision + 1)
      } catch (error) {
        const refused = error instanceof Refusal && watched.appends === 0 && !repeated
        const state = refused ? 'refused' : 'unknown'
        await remembered.put({ ...running, state }, revision + 1).catch(() => {})
        throw error
      }
      await forgetExpired(now).catch(() => {})
      return { ...outcome, replayed: false, first }
    },
  }
}

const recordsOf = ({ service, readModels }: { service: string; readModels: ReadModels }) =>
  readModels.collection(
    defineCollection<Remembered>({
      name: `${service}.idempotency`,
      version: 1,
      fields: { expiresAt: 'number', user: 'string', mentioned: 'strings' },
    }),
  )

/** The values of a body that are UUIDs. Text that contains a UUID is none of them. */
const uuidsOf = (body: unknown) => [
  ...new Set((JSON.stringify(body) ?? '').match(/(?<=")[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=")/g)),
]

const [DELETED, ERASED] = [
  subjects.events('identity', 'USER_DELETED'),
  subjects.events('identity', 'USER_ERASED'),
]

/**
 * Reacts to the end of a user. Removes the records of a deleted user's requests. After an erasure, removes the outcomes
 * of other requests that mention the user: such a request is executed again when it is repeated, and creates nothing,
 * because its ids are the same.
 */
export function forgettingUsers(service: string, readModels: ReadModels): Reaction {
  const remembered = recordsOf({ service, readModels })
  /** Calls `forget` for the records of a query until none is left. @returns whether there were any */
  const forgetAll = async (
    where: Record<string, string>,
    forget: (doc: Remembered, revision: number) => Promise<unknown>,
  ) => {
    for (let any = false; ; any = true) {
      const found = await remembered.list({ where, limit: PAGE })
      if (found.length === 0) return any
      // With the revision of the outcome of a request that is in progress, so that it is not stored afterwards.
      for (const { doc, revision } of found) await forget(doc, revision + 1)
    }
  }
  return {
    consumer: `${service}-users`,
    subjects: [subjects.events('identity', '*')],
    async react({ subject, data }) {
      if (subject !== DELETED && subject !== ERASED) return
      const event = PublicEvent.safeParse(data)
      if (!event.success) throw new Refusal('invalid-request', { detail: event.error.message })
      const user = event.data.subject
      const own = await forgetAll({ user }, ({ id }, revision) => remembered.remove(id, revision))
      const ofOthers =
        subject === ERASED &&
        (await forgetAll({ mentioned: user }, (doc, revision) =>
          remembered.put({ ...doc, state: 'unknown', sealed: null, mentioned: [] }, revision),
        ))
      if (own || ofOthers) await readModels.purge()
    },
  }
}

/** The key of ENCRYPTION_KEY that a record was made with. */
const keyOf = ({ encryptionKey, keyFingerprint }: Remembered): KeyInUse => ({
  id: encryptionKey,
  fingerprint: keyFingerprint,
})

/**
 * An HMAC with the secret from ENCRYPTION_KEY, which begins with the purpose and the idempotency key. Without the secret, it
 * cannot be compared with those of guessed idempotency keys.
 */
const hmacOfUse = (secret: KeyObject, purpose: string, key: string) =>
  createHmac('sha256', secret).update(`${purpose}\n${key}\n`)

/**
 * Removes expired records at some of the calls, more at once than these calls can have made, and tombstones once an hour. A
 * query at each call would take a tenth of the processor time of a creation.
 */
function forgettingExpired(remembered: Collection<Remembered>): (now: number) => Promise<void> {
  let forgotAt = 0
  let expiredAt = 0
  let calls = 0
  const forgetRemovals = async () => {
    while ((await remembered.forgetRemoved(REMOVALS_KEPT_MS)) > 0);
  }
  return async now => {
    calls++
    if (calls < EXPIRE_CALLS && Math.abs(now - expiredAt) < EXPIRE_EVERY_MS) return
    calls = 0
    expiredAt = now
    const expired = await remembered.list({
      where: { expiresAt: { lt: now } },
      sort: [{ field: 'expiresAt', direction: 'asc' }],
      limit: EXPIRE_MOST,
    })
    await Promise.all(expired.map(({ doc, revision }) => remembered.remove(doc.id, revision)))
    if (now - forgotAt < FORGET_EVERY_MS) return
    forgotAt = now
    // The request does not wait for this, because there may be many tombstones.
    forgetRemovals().catch(() => {})
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

const unsealed = (key: Uint8Array, sealed: string) => JSON.parse(unseal(key, sealed).toString()) as Sealed

const inProgress = () => new Refusal('request-in-progress', { headers: { 'retry-after': '1' } })

function seedOf(secret: KeyObject, name: string, repeated: boolean): Seed {
  let made = 0
  const next = () => `${name}/${made++}`
  return {
    commandId: requestUuid(name),
    keyed: true,
    repeated,
    newId: () => requestUuid(next()),
    secretBytes: length => Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), next(), length)),
  }
}

/**
 * Returns a function that returns the secret of a key that a record was made with. It throws Error when ENCRYPTION_KEY lacks
 * the key: a repeated request could be taken for another one, or be answered with another secret than its first try stored.
 */
function derivedSecrets({ all }: EncryptionKeys): (record: KeyInUse) => KeyObject {
  const secrets = new Map(
    all.map(({ bytes }) => [fingerprint(bytes), createSecretKey(deriveKey(bytes, 'idempotency'))]),
  )
  return ({ id, fingerprint }) => {
    const secret = secrets.get(fingerprint)
    if (secret) return secret
    throw new Error(
      `ENCRYPTION_KEY lacks key ${id}, with which the first try of a repeated request was recorded`,
    )
  }
}
