import { createHash } from 'node:crypto'
import type { ImageRecord } from '@gantry/contracts'
import { type BodyBytes, GrowingBuffer } from '@gantry/service-runtime'
import type { BlobDraft } from '@gantry/stores'
import { type Format, formatOf, formatOfStart } from '../format/format.ts'
import type { ImageBytes } from './image.bytes.ts'

/** Number of bytes of an upload in memory; a larger image is written to a draft of the blob store. */
const BUFFER_BYTES = 65_536

/** An upload: checks and stores an image while it is received. */
export class ImageUpload {
  readonly #store: ImageBytes
  readonly #counted: BodyBytes
  readonly #buffer: GrowingBuffer
  readonly #hash = createHash('sha256')
  #size = 0
  #format: Format | undefined
  #draft: BlobDraft | undefined
  #ended = false
  /** Settles with the last call on the draft. Never rejects. */
  #work: Promise<void> = Promise.resolve()

  constructor(store: ImageBytes, counted: BodyBytes) {
    this.#store = store
    this.#counted = counted
    this.#buffer = new GrowingBuffer(counted)
  }

  /**
   * Adds the next bytes of the image. Calls must not overlap.
   * @throws Refusal image-type-unsupported, image-unreadable or image-too-large because of the first bytes,
   *   body-memory-full
   */
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

  /**
   * Completes the image. Its bytes are durable when this returns.
   * @throws Refusal image-type-unsupported, image-unreadable, image-too-large, body-memory-full
   */
  async store(): Promise<ImageRecord> {
    const draft = this.#draft
    if (draft && this.#buffer.length > 0) await this.#flush()
    const { contentType, width, height } = this.#format ?? (await this.#formatOfAll())
    const record = { contentType, size: this.#size, width, height, sha256: this.#hash.digest('hex') }
    if (draft) await this.#next(() => draft.commit(record.sha256))
    else await this.#store.put(record.sha256, this.#buffer.bytes())
    return record
  }

  /** Removes the stored bytes of an image that was not completed. */
  async discard(): Promise<void> {
    this.#ended = true
    await this.#work
    // A draft that cannot be removed here is removed together with the drafts of dead processes.
    await this.#draft?.discard().catch(() => {})
  }

  async #flush(): Promise<void> {
    if (!this.#draft) {
      this.#format = formatOfStart(this.#buffer.bytes())
      await this.#next(async () => {
        this.#draft = await this.#store.draft()
      })
    }
    await this.#next(async () => this.#draft?.write(this.#buffer.bytes()))
    this.#buffer.clear()
  }

  /** Checks formats that need the whole image: SVG, and images whose first bytes do not determine the format. */
  async #formatOfAll(): Promise<Format> {
    const draft = this.#draft
    if (!draft) return formatOf(this.#buffer.bytes())
    this.#counted.add(this.#size)
    try {
      return await this.#next(async () => {
        const { buffer, byteOffset, byteLength } = await draft.bytes()
        return formatOf(Buffer.from(buffer, byteOffset, byteLength))
      })
    } finally {
      this.#counted.subtract(this.#size)
    }
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
