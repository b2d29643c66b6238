import { MongoClient, type MongoClientOptions } from 'mongodb'

export interface MongoOptions {
  /**
   * mongodb://host:27017,host:27017/database?replicaSet=name, or mongodb+srv://host/database. Without a database it is
   * `gantry`. Its options may say whatever is not about durability, order and how long to wait.
   */
  url: string
  /** The setting that the URL is from, as messages name it. */
  setting?: string
}

/** What a setting that cannot work is answered with; the message names it. */
export class MongoRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MongoRefused'
  }
}

const SCHEME = /^mongodb(\+srv)?:\/\//
const DATABASE = /^[^:]+:\/\/[^/]*\/([^?/]+)/

/**
 * An acknowledged write is on the disks of a majority. Reads ask the primary for what a majority has, which includes all
 * that this primary has acknowledged; a primary that was deposed and has not noticed yet may lack newer writes (see
 * mongoReadModels). Calls do not wait for long while no server answers.
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
  /** The setting and the URL without its secrets. */
  place: string
}

/** A client that connects when it is first asked for something. @throws MongoRefused */
export function openClient({ url, setting = 'READ_MODEL_URL' }: MongoOptions): Client {
  const wrong = (reason: string, cause?: unknown) =>
    new MongoRefused(`${setting} ${reason}: it reads like mongodb://host:27017/gantry`, { cause })
  if (!SCHEME.test(url)) throw wrong('is no URL of MongoDB')
  const database = decodeURIComponent(DATABASE.exec(url)?.[1] ?? 'gantry')
  let client: MongoClient
  try {
    client = new MongoClient(url, { appName: 'gantry', ...DURABLE_AND_IMPATIENT })
  } catch (error) {
    throw wrong(`cannot be used (${(error as Error).message.replaceAll(url, '…')})`, error)
  }
  const { srvHost, hosts } = client.options
  const shown = srvHost ? `mongodb+srv://${srvHost}` : `mongodb://${hosts.join(',')}`
  return { client, database, place: `${setting} ${shown}/${database}` }
}
