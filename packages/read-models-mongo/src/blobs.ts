import { finished } from 'node:stream/promises'
import type { BlobStore } from '@gantry/read-models'
import { GridFSBucket, ObjectId } from 'mongodb'
import { connect } from './connection.ts'
import { isDuplicate } from './guarded-writes.ts'
import { makeIndexes } from './indexes.ts'
import type { MongoOptions } from './settings.ts'

export interface GridFsBlobStoreOptions extends MongoOptions {
  /** What the names of its collections begin with. */
  bucket?: string
}

/** What has been unfinished for this long was left by a process that died; far more than clocks differ by. */
const LEFT_BEHIND_MS = 60 * 60 * 1000

/**
 * Blobs in GridFS, for any number of processes. A key is the unique name of a file, which is written after all of its
 * bytes: so it never stands for half a blob, and of several who put it at once one stores it.
 * @throws MongoRefused when the URL cannot be used
 * @throws ReadModelsUnavailable from every call while the server is away
 */
export function gridFsBlobStore({ bucket = 'blobs', ...options }: GridFsBlobStoreOptions): BlobStore {
  const { db, run, close } = connect(options)
  const gridFs = new GridFSBucket(db, { bucketName: bucket })
  const files = db.collection<{ _id: ObjectId; filename: string }>(`${bucket}.files`)
  const chunks = db.collection<{ files_id: ObjectId }>(`${bucket}.chunks`)
  /** Ids of files whose chunks may be there without them. */
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
    // The driver makes it too, but waits for all members of a replica set.
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
