import { finished } from 'node:stream/promises'
import type { BlobDraft, BlobStore } from '@gantry/read-models'
import { Binary, GridFSBucket, ObjectId } from 'mongodb'
import { connect } from './connection.ts'
import { isDuplicate } from './guarded-writes.ts'
import { makeIndexes } from './indexes.ts'
import type { MongoOptions } from './settings.ts'

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
const LEFT_BEHIND_MS = 60 * 60 * 1000

/**
 * Stores blobs in GridFS, for any number of processes. A key is the unique name of a file. The file is inserted after all
 * of its chunks, so that a key never has a partial blob, and only one of several concurrent writers of a key stores it.
 * @throws MongoRefused when the URL cannot be used
 * @throws ReadModelsUnavailable from every call while the server is unavailable
 */
export function gridFsBlobStore({ bucket = 'blobs', ...options }: GridFsBlobStoreOptions): BlobStore {
  const { db, run, close } = connect(options)
  const gridFs = new GridFSBucket(db, { bucketName: bucket })
  const files = db.collection<StoredFile>(`${bucket}.files`)
  const chunks = db.collection<StoredChunk>(`${bucket}.chunks`)
  /** Ids of files that may have chunks without a file. */
  const unfinished = db.collection<{ _id: ObjectId }>(`${bucket}.unfinished`)
  let prepared: Promise<void> | undefined

  const prepareOnce = () => {
    prepared ??= prepare().catch(error => {
      prepared = undefined
      throw error
    })
    return prepared
  }

  const prepare = async () => {
    await makeIndexes(db, files, [{ key: { filename: 1 }, unique: true }])
    // The driver would create this index as well, but would wait for all members of a replica set.
    await makeIndexes(db, chunks, [{ key: { files_id: 1, n: 1 }, unique: true }])
    const before = ObjectId.createFromTime(Math.floor((Date.now() - LEFT_BEHIND_MS) / 1000))
    for await (const { _id } of unfinished.find({ _id: { $lt: before } })) await forgetUnlessThere(_id)
  }

  const forgetUnlessThere = async (id: ObjectId) => {
    if (!(await files.findOne({ _id: id }))) await chunks.deleteMany({ files_id: id })
    await unfinished.deleteOne({ _id: id })
  }

  const upload = async (key: string, bytes: Uint8Array) => {
    const id = new ObjectId()
    await unfinished.insertOne({ _id: id })
    try {
      await finished(gridFs.openUploadStreamWithId(id, key).end(bytes))
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
    await forgetUnlessThere(id)
  }

  /** Writes the same documents as the driver's upload stream, which keeps a chunk in memory and cannot read back. */
  const draft = async (): Promise<BlobDraft> => {
    const _id = new ObjectId()
    await run(async () => {
      await prepareOnce()
      await unfinished.insertOne({ _id })
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
          await forgetUnlessThere(_id)
        }),
      discard: () => run(() => forgetUnlessThere(_id)),
    }
  }

  const download = async (id: ObjectId) => {
    try {
      return Buffer.concat(await gridFs.openDownloadStream(id).toArray())
    } catch (error) {
      if (await files.findOne({ _id: id })) throw error
      return undefined
    }
  }

  return {
    put: (key, bytes) =>
      run(async () => {
        await prepareOnce()
        if (!(await files.findOne({ filename: key }))) await upload(key, bytes)
      }),
    draft,
    get: key =>
      run(async () => {
        const file = await files.findOne({ filename: key })
        return file && (await download(file._id))
      }).then(bytes => bytes ?? undefined),
    delete: key =>
      run(async () => {
        const file = await files.findOne({ filename: key })
        if (!file) return
        const { _id } = file
        await unfinished.updateOne({ _id }, { $set: { _id } }, { upsert: true })
        await files.deleteOne({ _id })
        await forgetUnlessThere(_id)
      }),
    async *keys() {
      const found = files.find({}, { projection: { filename: 1 } })
      try {
        for (let file = await run(() => found.next()); file; file = await run(() => found.next()))
          yield file.filename
      } finally {
        await found.close()
      }
    },
    close,
  }
}
