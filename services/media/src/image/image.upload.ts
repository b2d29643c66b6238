import type { ImageRecord } from '@gantry/contracts'
import type { BodyBytes } from '@gantry/service-runtime'
import type { StoredBytes } from '../bytes/bytes.ts'
import { Upload } from '../bytes/upload.ts'
import { type Format, formatOf, formatOfStart } from '../format/format.ts'

/** An upload of an image, which is checked while it is received. */
export class ImageUpload {
  readonly #upload: Upload
  #format: Format | undefined

  constructor(store: StoredBytes, counted: BodyBytes) {
    this.#upload = new Upload(store, counted, first => {
      this.#format = formatOfStart(first)
    })
  }

  /**
   * Adds the next bytes of the image. Calls must not overlap.
   * @throws Refusal image-type-unsupported, image-unreadable or image-too-large because of the first bytes,
   *   body-memory-full
   */
  write(chunk: Uint8Array): Promise<void> {
    return this.#upload.write(chunk)
  }

  /**
   * Completes the image. Its bytes are durable when this returns.
   * @throws Refusal image-type-unsupported, image-unreadable, image-too-large, body-memory-full
   */
  async store(): Promise<ImageRecord> {
    // Some formats need the whole image: SVG, and images whose first bytes do not determine the format.
    const { contentType, width, height } = this.#format ?? (await this.#upload.withBytes(formatOf))
    await this.#upload.store()
    const { size, sha256 } = this.#upload
    return { contentType, size, width, height, sha256 }
  }

  /** Removes the stored bytes of an image that was not completed. */
  discard(): Promise<void> {
    return this.#upload.discard()
  }
}
