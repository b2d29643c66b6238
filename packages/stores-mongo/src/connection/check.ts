import { MongoCompatibilityError } from 'mongodb'
import { failed } from './connection.ts'
import { underlyingError } from './errors.ts'
import { PROGRESS, type Progress } from './progress.ts'
import { type BuildInfo, serverOf } from './server.ts'
import { type MongoOptions, MongoRefused, openClient } from './settings.ts'

/** Wire version of MongoDB 5.0, the first one that allows all field names. */
const OLDEST_WIRE_VERSION = 13

/**
 * Checks that the server can be used and accepts writes. To be called before a service becomes ready, and repeated with
 * backoff while it throws.
 * @returns the name and version of the server, e.g. MongoDB 7.0.14, or FerretDB v2.7.0, compatible with MongoDB 7.0.77
 * @throws MongoRefused when the setting is invalid, or the server is too old
 * @throws ReadModelsUnavailable when the server does not answer or refuses; the message names the setting and the hosts
 */
export async function checkReadModels(options: MongoOptions): Promise<string> {
  const { client, database, target } = openClient(options)
  const tooOld = (what: string, cause?: unknown) =>
    new MongoRefused(`${target} is ${what}; MongoDB 5.0 or newer is required`, { cause })
  try {
    await client.connect()
    const db = client.db(database)
    const [{ maxWireVersion }, buildInfo] = await Promise.all([
      db.command({ hello: 1 }),
      db.command({ buildInfo: 1 }) as Promise<BuildInfo>,
    ])
    if (maxWireVersion < OLDEST_WIRE_VERSION) throw tooOld(`MongoDB ${buildInfo.version}`)
    const progress = db.collection<Progress>(PROGRESS)
    await progress.updateOne({ _id: 'check' }, { $set: { position: '' } }, { upsert: true })
    return serverOf(buildInfo).name
  } catch (error) {
    throw underlyingError(error) instanceof MongoCompatibilityError
      ? tooOld('a server that is too old', error)
      : failed(target, error)
  } finally {
    await client.close()
  }
}
