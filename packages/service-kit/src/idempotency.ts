import { createHash, hkdfSync } from 'node:crypto'
import { Refusal } from '@gantry/event-sourcing'
import { defineCollection, type ReadModels } from '@gantry/read-models'
import { v5 as uuidv5 } from 'uuid'
import { deriveKey, seal, unseal } from './secrets.ts'

/** What a request came to: enough to answer it again. */
export interface Outcome {
  status: number
  headers: Record<string, string>
  body: unknown
}

interface Remembered {
  id: string
  requestHash: string
  state: 'running' | 'done' | 'free'
  /** Grows when the key is used anew after it expired; the seed of the ids made under the key. */
  generation: number
  startedAt: number
  expiresAt: number
  /** The outcome, encrypted under the key itself: who has the store alone cannot read secrets from it. */
  sealed: string | null
}

/** Sources of identity for one request: the same for every try under the same key, so that none creates twice. */
export interface Seed {
  commandId: string
  newId(): string
  secretBytes(length: number): Buffer
}

export interface Idempotency {
  /**
   * Runs the request once per key and answers later ones with what the first came to.
   * @throws Refusal request-in-progress, idempotency-key-reused
   */
  run(
    use: { scope: string; key: string; request: string },
    handle: (seed: Seed) => Promise<Outcome>,
  ): Promise<Outcome & { replayed: boolean }>
}

const KEPT_MS = 24 * 3_600_000
/** A request that runs for longer died with its process. */
const ABANDONED_MS = 30_000
const NAMESPACE = '3c1f6a53-93a1-4d41-9d1c-1e5b7c0f6a90'

export function idempotency(options: {
  service: string
  readModels: ReadModels
  now(): Date
  encryptionKey: Uint8Array
}): Idempotency {
  const remembered = options.readModels.collection(
    defineCollection<Remembered>({
      name: `${options.service}.idempotency`,
      version: 1,
      fields: { expiresAt: 'number' },
    }),
  )
  const secret = deriveKey(options.encryptionKey, 'idempotency')

  const forgetExpired = async (now: number) => {
    const expired = await remembered.list({ where: { expiresAt: { lt: now } }, limit: 10 })
    for (const { doc, revision } of expired) await remembered.remove(doc.id, revision)
  }

  return {
    async run({ scope, key, request }, handle) {
      const id = createHash('sha256').update(`${scope}\n${key}`).digest('hex')
      const requestHash = createHash('sha256').update(request).digest('hex')
      const sealingKey = deriveKey(Buffer.from(key), id)
      const now = options.now().getTime()
      const known = await remembered.get(id)
      const live = known && known.doc.expiresAt > now ? known.doc : undefined
      if (live && live.state !== 'free') {
        if (live.requestHash !== requestHash) throw new Refusal('idempotency-key-reused')
        if (live.state === 'done' && live.sealed) {
          return { ...(JSON.parse(unseal(sealingKey, live.sealed).toString()) as Outcome), replayed: true }
        }
        if (now - live.startedAt < ABANDONED_MS)
          throw new Refusal('request-in-progress', { headers: { 'retry-after': '1' } })
      }
      const generation = known ? known.doc.generation + (live ? 0 : 1) : 0
      const running: Remembered = {
        id,
        requestHash,
        state: 'running',
        generation,
        startedAt: now,
        expiresAt: now + KEPT_MS,
        sealed: null,
      }
      const revision = (known?.revision ?? 0) + 1
      if (!(await remembered.put(running, revision)))
        throw new Refusal('request-in-progress', { headers: { 'retry-after': '1' } })
      try {
        const outcome = await handle(seedOf(secret, `${id}/${generation}`))
        await remembered.put(
          { ...running, state: 'done', sealed: seal(sealingKey, JSON.stringify(outcome)) },
          revision + 1,
        )
        await forgetExpired(now)
        return { ...outcome, replayed: false }
      } catch (error) {
        // A refusal changed nothing: the key may be tried again. After a fault, what happened is unknown until then too.
        await remembered.put({ ...running, state: 'free' }, revision + 1).catch(() => {})
        throw error
      }
    },
  }
}

function seedOf(secret: Uint8Array, name: string): Seed {
  let made = 0
  const next = () => `${name}/${made++}`
  return {
    commandId: uuidv5(name, NAMESPACE),
    newId: () => uuidv5(next(), NAMESPACE),
    secretBytes: length => Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), next(), length)),
  }
}
