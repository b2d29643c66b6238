import { createHash, hkdfSync } from 'node:crypto'
import { Refusal } from '@gantry/event-sourcing'
import { defineCollection, type ReadModels } from '@gantry/read-models'
import { v5 as uuidv5 } from 'uuid'
import type { WatchedEventStore } from './append-watch.ts'
import { deriveKey, seal, unseal } from './secrets.ts'

/** What a request came to: enough to answer it again. */
export interface Outcome {
  status: number
  headers: Record<string, string>
  body: unknown
}

/** One use of a key: a request under it. */
export interface KeyUse {
  /** Whose key it is and what it is for. The same key in another scope is another key. */
  scope: string
  key: string
  /** Everything else that the request asks for, as text: the same key is refused for another. */
  request: string
  /** Identifies the caller's credential; undefined when that is not known. */
  credential: string | undefined
}

/** An outcome, and how it was come by. */
export interface Answered extends Outcome {
  /** It was remembered, not made for this request. */
  replayed: boolean
  /** This request's credential is the one that the outcome was first given to, so secrets may be in the answer. */
  first: boolean
}

/**
 * `refused` and `unknown` are how a try ended that came to no outcome. Only `refused` proves that nothing was appended.
 * Any state that an earlier release wrote and that is not listed here counts as `unknown`.
 */
type State = 'running' | 'done' | 'refused' | 'unknown'

interface Remembered {
  id: string
  requestHash: string
  state: State
  /** Another one when the key is used anew after it expired; the seed of the ids made under the key. */
  generation: number
  startedAt: number
  expiresAt: number
  /** The outcome, encrypted under the key itself: who has the store alone cannot read secrets from it. */
  sealed: string | null
}

/** What is encrypted: the outcome and the credential that it was given to. */
interface Sealed extends Outcome {
  credential?: string
}

/** Sources of identity for one request: the same for every try under the same key, so that none creates twice. */
export interface Seed {
  commandId: string
  /** There is a key, so that the ids are no new ones. */
  keyed: boolean
  /** An earlier try under the key may have appended what this one is about to append. */
  repeated: boolean
  newId(): string
  secretBytes(length: number): Buffer
}

export interface Idempotency {
  /**
   * Runs the request once per key and answers later ones with what the first came to.
   * @throws Refusal request-in-progress, idempotency-key-reused
   */
  run(use: KeyUse, handle: (seed: Seed) => Promise<Outcome>): Promise<Answered>
}

const KEPT_MS = 24 * 3_600_000
/**
 * A removed record tells the next use of its key which number comes next. It is forgotten once all numbers of its period
 * are past.
 */
const PERIOD_MS = 30 * KEPT_MS
const REMOVALS_KEPT_MS = PERIOD_MS + 2 * KEPT_MS
const NUMBERS_OF_PERIOD = 2 ** 32
const FORGET_EVERY_MS = 3_600_000
/** A request that runs for longer died with its process. */
const ABANDONED_MS = 30_000
const NAMESPACE = '3c1f6a53-93a1-4d41-9d1c-1e5b7c0f6a90'

export function idempotency(options: {
  service: string
  readModels: ReadModels
  eventStore: WatchedEventStore
  now(): Date
  encryptionKey: Uint8Array
}): Idempotency {
  const { eventStore } = options
  const remembered = options.readModels.collection(
    defineCollection<Remembered>({
      name: `${options.service}.idempotency`,
      version: 1,
      fields: { expiresAt: 'number' },
    }),
  )
  const secret = deriveKey(options.encryptionKey, 'idempotency')

  let forgotAt = 0
  const forgetExpired = async (now: number) => {
    const expired = await remembered.list({
      where: { expiresAt: { lt: now } },
      sort: [{ field: 'expiresAt', direction: 'asc' }],
      limit: 10,
    })
    for (const { doc, revision } of expired) await remembered.remove(doc.id, revision)
    if (now - forgotAt < FORGET_EVERY_MS) return
    forgotAt = now
    // The request does not wait: there may be many.
    forgetRemovals().catch(() => {})
  }
  const forgetRemovals = async () => {
    while ((await remembered.forgetRemoved(REMOVALS_KEPT_MS)) > 0);
  }

  return {
    async run({ scope, key, request, credential }, handle) {
      const id = hashOf(`${scope}\n${key}`)
      const requestHash = hashOf(request)
      const sealingKey = deriveKey(Buffer.from(key), id)
      const now = options.now().getTime()
      const known = await remembered.latest(id)
      const live = known?.doc && known.doc.expiresAt > now ? known.doc : undefined
      if (live && live.state !== 'refused' && live.requestHash !== requestHash)
        throw new Refusal('idempotency-key-reused')
      if (live?.state === 'done' && live.sealed) {
        const { credential: firstCredential, ...outcome } = unsealed(sealingKey, live.sealed)
        return {
          ...outcome,
          replayed: true,
          first: credential !== undefined && credential === firstCredential,
        }
      }
      if (live?.state === 'running' && now - live.startedAt < ABANDONED_MS) throw inProgress()

      const before = known?.revision ?? 0
      const revision = before + 1
      const running: Remembered = {
        id,
        requestHash,
        state: 'running',
        // Revisions only grow, over removals too, until those are forgotten: then another period has begun. So a new use
        // never gets the number of an earlier one. A repetition in the same period gets it again though the record is lost.
        generation: live?.generation ?? Math.floor(now / PERIOD_MS) * NUMBERS_OF_PERIOD + before,
        startedAt: now,
        expiresAt: now + KEPT_MS,
        sealed: null,
      }
      if (!(await remembered.put(running, revision))) throw inProgress()

      const repeated = live !== undefined && live.state !== 'refused'
      const watched = { appends: 0 }
      let first: boolean
      let outcome: Outcome
      try {
        const seed = seedOf(secret, `${id}/${running.generation}`, repeated)
        outcome = await eventStore.watch(watched, () => handle(seed))
        const sealed = seal(sealingKey, JSON.stringify({ ...outcome, credential } satisfies Sealed))
        // Not stored when another request took this one for dead: then the secrets are in the answer to that one.
        first = await remembered.put({ ...running, state: 'done', sealed }, revision + 1)
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

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

const unsealed = (key: Uint8Array, sealed: string) => JSON.parse(unseal(key, sealed).toString()) as Sealed

const inProgress = () => new Refusal('request-in-progress', { headers: { 'retry-after': '1' } })

function seedOf(secret: Uint8Array, name: string, repeated: boolean): Seed {
  let made = 0
  const next = () => `${name}/${made++}`
  return {
    commandId: uuidv5(name, NAMESPACE),
    keyed: true,
    repeated,
    newId: () => uuidv5(next(), NAMESPACE),
    secretBytes: length => Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), next(), length)),
  }
}
