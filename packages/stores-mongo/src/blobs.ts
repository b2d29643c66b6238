import { finished } from 'node:stream/promises'
import type { BlobDraft, BlobStore, ByteRange } from '@gantry/stores'
import { Binary, type Collection, type Db, GridFSBucket, ObjectId } from 'mongodb'
import { type Connection, connect, each } from './connection/connection.ts'
import { makeIndexes } from './connection/server.ts'
import type { MongoOptions } from './connection/settings.ts'
import { isDuplicate } from './read-models/guarded-writes.ts'

export interface GridFsBlobStoreOptions extends MongoOptions {
  /** Prefix of the names of the collections. Default: blobs. */
  bucket?: string
}

/** Documents of GridFS, as in its specification. */
interface StoredFile {
  _id: ObjectId
  length: number
  chunkSize: number
  uploadDate: Date
  filename: string
}
interface StoredChunk {
  _id: ObjectId
  files_id: ObjectId
  n: number
  data: Binary
}

/**
 * A file that has been unfinished for this long was left by a process that died, in milliseconds. Much longer than the
 * difference between clocks.
 */
const ABANDONED_MS = 60 * 60 * 1000

/**
 * Stores blobs in GridFS, for any number of processes. A key is the unique name of a file. The file is inserted after all
 * of its chunks, so that a key never has a partial blob, and only one of several concurrent writers of a key stores it.
 * @throws MongoRefused when the URL cannot be used
 * @throws ReadModelsUnavailable from every call while the server is unavailable
 */
export function gridFsBlobStore({ bucket = 'blobs', ...options }: GridFsBlobStoreOptions): BlobStore {
  const { db, run, close } = connect(options)
  const gridFs = new GridFs(db, bucket)
  const { files } = gridFs

  return {
    put: (key, bytes) =>
      run(async () => {
        await gridFs.prepare()
        if (!(await files.findOne({ filename: key }))) await gridFs.upload(key, bytes)
      }),
    draft: () => draftIn(gridFs, run),
    removeAbandoned: () => run(() => gridFs.removeAbandoned()),
    get: (key, range) =>
      run(async () => {
        const file = await files.findOne({ filename: key })
        return file && (await gridFs.download(file, range))
      }).then(bytes => bytes ?? undefined),
    delete: key =>
      run(async () => {
        const file = await files.findOne({ filename: key })
        if (file) await gridFs.remove(file._id)
      }),
    async *keys() {
      const found = files.find({}, { projection: { filename: 1 } })
      for await (const { filename } of each(found, run)) yield filename
    },
    close,
  }
}

/** The files, their chunks, and the ids of files that may have chunks without a file. */
class GridFs {
  readonly files: Collection<StoredFile>
  readonly chunks: Collection<StoredChunk>
  readonly #unfinished: Collection<{ _id: ObjectId }>
  readonly #db: Db
  readonly #bucket: GridFSBucket
  #prepared: Promise<void> | undefined

  constructor(db: Db, bucket: string) {
    this.#db = db
    this.#bucket = new GridFSBucket(db, { bucketName: bucket })
    this.files = db.collection(`${bucket}.files`)
    this.chunks = db.collection(`${bucket}.chunks`)
    this.#unfinished = db.collection(`${bucket}.unfinished`)
  }

  /** Creates the indexes, once. */
  prepare(): Promise<void> {
    this.#prepared ??= this.#prepareOnce().catch(error => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  async upload(key: string, bytes: Uint8Array): Promise<void> {
    const id = await this.begin()
    try {
      await finished(this.#bucket.openUploadStreamWithId(id, key).end(bytes))
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
    await this.forgetUnlessThere(id)
  }

  async download(
    { _id, length }: StoredFile,
    range: ByteRange = { from: 0, to: length },
  ): Promise<Buffer | undefined> {
    const [start, end] = [range.from, Math.min(range.to, length)]
    if (start >= end) return Buffer.alloc(0)
    try {
      return Buffer.concat(await this.#bucket.openDownloadStream(_id, { start, end }).toArray())
    } catch (error) {
      if (await this.files.findOne({ _id })) throw error
      return undefined
    }
  }

  async remove(_id: ObjectId): Promise<void> {
    await this.#unfinished.updateOne({ _id }, { $set: { _id } }, { upsert: true })
    await this.files.deleteOne({ _id })
    await this.forgetUnlessThere(_id)
  }

  /** Records the id of a file before its first chunk. */
  async begin(): Promise<ObjectId> {
    const _id = new ObjectId()
    await this.#unfinished.insertOne({ _id })
    return _id
  }

  /** Deletes the chunks of a file that is not there. */
  async forgetUnlessThere(id: ObjectId): Promise<void> {
    if (!(await this.files.findOne({ _id: id }))) await this.chunks.deleteMany({ files_id: id })
    await this.#unfinished.deleteOne({ _id: id })
  }

  async #prepareOnce(): Promise<void> {
    await makeIndexes(this.#db, this.files, [{ key: { filename: 1 }, unique: true }])
    // The driver would create this index as well, but would wait for all members of a replica set.
    await makeIndexes(this.#db, this.chunks, [{ key: { files_id: 1, n: 1 }, unique: true }])
  }

  async removeAbandoned(): Promise<void> {
    const before = ObjectId.createFromTime(Math.floor((Date.now() - ABANDONED_MS) / 1000))
    for await (const { _id } of this.#unfinished.find({ _id: { $lt: before } }))
      await this.forgetUnlessThere(_id)
  }
}

/** Writes the same documents as the driver's upload stream, which keeps a chunk in memory and cannot read back. */
async function draftIn(gridFs: GridFs, run: Connection['run']): Promise<BlobDraft> {
  const { files, chunks } = gridFs
  const _id = await run(async () => {
    await gridFs.prepare()
    return gridFs.begin()
  })
  let chunkSize = 0
  let length = 0
  let n = 0
  return {
    write: piece =>
      run(async () => {
        chunkSize ||= piece.length
        const data = new Binary(piece)
        await chunks.insertOne({ _id: new ObjectId(), files_id: _id, n, data })
        length += piece.length
        n++
      }),
    bytes: () =>
      run(async () => {
        const found = await chunks.find({ files_id: _id }).sort({ n: 1 }).toArray()
        return Buffer.concat(found.map(({ data }) => data.value()))
      }),
    commit: filename =>
      run(async () => {
        const file = { _id, length, chunkSize: chunkSize || 1, uploadDate: new Date(), filename }
        await files.insertOne(file).catch(error => {
          if (!isDuplicate(error)) throw error
        })
        await gridFs.forgetUnlessThere(_id)
      }),
    discard: () => run(() => gridFs.forgetUnlessThere(_id)),
  }
}
