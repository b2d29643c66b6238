import { MongoCompatibilityError } from 'mongodb'
import { failed } from './connection.ts'
import { PROGRESS, type Progress } from './progress.ts'
import { failureOf } from './reason.ts'
import { type BuildInfo, serverOf } from './server.ts'
import { type MongoOptions, MongoRefused, openClient } from './settings.ts'

/** MongoDB 5.0: the first whose documents may have any field name. */
const OLDEST_WIRE_VERSION = 13

/**
 * Asks the server who it is, and whether it stores: call it before a service counts as ready, and again with backoff
 * while it throws.
 * @returns its name and version, e.g. MongoDB 7.0.14, or FerretDB v2.7.0, which is like MongoDB 7.0.77
 * @throws MongoRefused when the setting cannot work, or the server is too old
 * @throws ReadModelsUnavailable when nobody answers, or the answer is no; the message names the setting and the hosts
 */
export async function checkReadModels(options: MongoOptions): Promise<string> {
  const { client, database, place } = openClient(options)
  const tooOld = (what: string, cause?: unknown) =>
    new MongoRefused(`${place} leads to ${what}; it has to be MongoDB 5.0 or newer`, { cause })
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
    throw failureOf(error) instanceof MongoCompatibilityError
      ? tooOld('a server too old', error)
      : failed(place, error)
  } finally {
    await client.close()
  }
}
