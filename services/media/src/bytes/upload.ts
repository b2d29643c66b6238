import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type BodyBytes, GrowingBuffer } from '@gantry/service-runtime'
import type { BlobDraft } from '@gantry/stores'
import type { StoredBytes } from './bytes.ts'

/** Number of bytes of an upload in memory; what is larger is written to a draft of the blob store. */
export const BUFFER_BYTES = 65_536

/** An upload: bytes that are stored while they are received, and named when they are complete. */
export class Upload {
  readonly #store: StoredBytes
  readonly #counted: BodyBytes
  readonly #buffer: GrowingBuffer
  readonly #begun: (first: Buffer) => void
  readonly #hash = createHash('sha256')
  #sha256: string | undefined
  #size = 0
  #draft: BlobDraft | undefined
  #ended = false
  /** Settles with the last call on the draft. Never rejects. */
  #work: Promise<void> = Promise.resolve()

  /** @param begun called with the first bytes of a large upload, before any is stored. May throw */
  constructor(store: StoredBytes, counted: BodyBytes, begun: (first: Buffer) => void = () => {}) {
    this.#store = store
    this.#counted = counted
    this.#buffer = new GrowingBuffer(counted)
    this.#begun = begun
  }

  get size(): number {
    return this.#size
  }

  /** The SHA-256 in hexadecimal, after the last `write`. */
  get sha256(): string {
    this.#sha256 ??= this.#hash.digest('hex')
    return this.#sha256
  }

  /** Adds the next bytes. Calls must not overlap. @throws Refusal body-memory-full; what `begun` throws */
  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk)
    this.#size += chunk.length
    for (let rest = chunk; rest.length > 0; ) {
      const free = BUFFER_BYTES - this.#buffer.length
      this.#buffer.add(rest.subarray(0, free))
      rest = rest.subarray(free)
      if (this.#buffer.length === BUFFER_BYTES) await this.#flush()
    }
  }

  /** Works with all bytes, which are in memory meanwhile. @throws Refusal body-memory-full */
  async withBytes<Result>(work: (bytes: Buffer) => Result | Promise<Result>): Promise<Result> {
    const draft = this.#draft
    if (!draft) return work(this.#buffer.bytes())
    if (this.#buffer.length > 0) await this.#flush()
    this.#counted.add(this.#size)
    try {
      return await this.#next(async () => {
        const { buffer, byteOffset, byteLength } = await draft.bytes()
        return work(Buffer.from(buffer, byteOffset, byteLength))
      })
    } finally {
      this.#counted.subtract(this.#size)
    }
  }

  /** Stores the bytes; they are durable when this returns. */
  async store(): Promise<void> {
    const draft = this.#draft
    if (!draft) return this.#store.put(this.sha256, this.#buffer.bytes())
    if (this.#buffer.length > 0) await this.#flush()
    await this.#next(() => draft.commit(this.sha256))
  }

  /** Removes what was written, unless it was stored. */
  async discard(): Promise<void> {
    this.#ended = true
    await this.#work
    // A draft that cannot be removed here is removed together with the drafts of dead processes.
    await this.#draft?.discard().catch(() => {})
  }

  async #flush(): Promise<void> {
    if (!this.#draft) {
      this.#begun(this.#buffer.bytes())
      await this.#next(async () => {
        this.#draft = await this.#store.draft()
      })
    }
    await this.#next(async () => this.#draft?.write(this.#buffer.bytes()))
    this.#buffer.clear()
  }

  /** Serializes calls on the draft. Rejects calls after `discard`, which may run concurrently. */
  #next<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#work.then(() => {
      if (this.#ended) throw new Error('the upload was discarded')
      return work()
    })
    this.#work = done.then(
      () => {},
      () => {},
    )
    return done
  }
}

/** Reads and drops the rest of a body: a client that is still sending would not read the response otherwise. */
export const dropRest = (body: IncomingMessage) => void body.unpipe().resume()
