import { MongoClient, type MongoClientOptions } from 'mongodb'

export interface MongoOptions {
  /**
   * mongodb://host:27017,host:27017/database?replicaSet=name, or mongodb+srv://host/database. Default database: `gantry`.
   * Its options cannot change durability, consistency and timeouts.
   */
  url: string
  /** Name of the setting with the URL, for messages. Default: READ_MODEL_URL. */
  setting?: string
  /** Appended to the name of the database. */
  suffix?: string
}

/** A setting is invalid. The message names it. */
export class MongoRefused extends Error {
  override readonly name = 'MongoRefused'
}

const SCHEME = /^mongodb(\+srv)?:\/\//
const DATABASE = /^[^:]+:\/\/[^/]*\/([^?/]+)/

/**
 * An acknowledged write is on the disks of a majority. Reads ask the primary for data that a majority has, which includes
 * everything that this primary has acknowledged. A former primary that has not noticed the election can lack newer writes
 * (see mongoReadModels). Timeouts are short, so that calls fail soon while the server is unavailable.
 */
const DURABLE_AND_IMPATIENT: MongoClientOptions = {
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5_000 },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  serverSelectionTimeoutMS: 1_500,
  connectTimeoutMS: 3_000,
  heartbeatFrequencyMS: 2_000,
  socketTimeoutMS: 30_000,
  waitQueueTimeoutMS: 5_000,
}

export interface Client {
  client: MongoClient
  database: string
  /** Setting and URL without secrets, for messages. */
  target: string
}

/** Creates a client that connects with its first use. @throws MongoRefused */
export function openClient({ url, setting = 'READ_MODEL_URL', suffix = '' }: MongoOptions): Client {
  const wrong = (reason: string, cause?: unknown) =>
    new MongoRefused(`${setting} ${reason}: it must look like mongodb://host:27017/gantry`, { cause })
  if (!SCHEME.test(url)) throw wrong('is not a MongoDB URL')
  const database = decodeURIComponent(DATABASE.exec(url)?.[1] ?? 'gantry') + suffix
  let client: MongoClient
  try {
    client = new MongoClient(url, { appName: 'gantry', ...DURABLE_AND_IMPATIENT })
  } catch (error) {
    throw wrong(`cannot be used (${(error as Error).message.replaceAll(url, '…')})`, error)
  }
  const { srvHost, hosts } = client.options
  const shown = srvHost ? `mongodb+srv://${srvHost}` : `mongodb://${hosts.join(',')}`
  return { client, database, target: `${setting} ${shown}/${database}` }
}
