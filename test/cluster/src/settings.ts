import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { basePath, key, readSettings, whole } from '@gantry/service-runtime'
import { z } from 'zod'

const schema = z.object({
  PORT: whole(1, 65_535).default(8080),
  HOST: z.string().default('localhost'),
  BASE_PATH: basePath.default(''),
  DATA_DIR: z.string().default('./data/cluster'),
  LOG_LEVEL: z.string().default('info'),
  GANTRY_ADMIN_USERNAME: z.string().default('admin'),
  GANTRY_ADMIN_PASSWORD: z.string().optional(),
  ENCRYPTION_KEY: key().optional(),
  EVENT_STORE_URL: z.string().optional(),
  READ_MODEL_URL: z.string().optional(),
  MESSAGING_URL: z.string().optional(),
  BLOB_URL: z.string().optional(),
})
const Secrets = z.object({ encryptionKey: z.string(), password: z.string() })

/** Settings of the cluster. Secrets that are not set are generated once and kept in the data folder. */
export interface ClusterSettings {
  port: number
  host: string
  basePath: string
  dataFolder: string
  logFolder: string
  /** In base64. */
  encryptionKey: string
  administrator: { username: string; password: string }
  logLevel: string
  /** URLs of stores that are running already. */
  urls: { eventStore?: string; readModels?: string; messaging?: string; blobs?: string }
}

/** @throws SettingsRefused */
export function readClusterSettings(environment: NodeJS.ProcessEnv): ClusterSettings {
  const settings = readSettings(schema, environment)
  const dataFolder = resolve(settings.DATA_DIR)
  const logFolder = join(dataFolder, 'logs')
  mkdirSync(logFolder, { recursive: true })
  const secrets = secretsIn(join(dataFolder, 'cluster.json'))
  return {
    port: settings.PORT,
    host: settings.HOST,
    basePath: settings.BASE_PATH,
    dataFolder,
    logFolder,
    encryptionKey: settings.ENCRYPTION_KEY?.toString('base64') ?? secrets.encryptionKey,
    administrator: {
      username: settings.GANTRY_ADMIN_USERNAME,
      password: settings.GANTRY_ADMIN_PASSWORD ?? secrets.password,
    },
    logLevel: settings.LOG_LEVEL,
    urls: {
      eventStore: settings.EVENT_STORE_URL,
      readModels: settings.READ_MODEL_URL,
      messaging: settings.MESSAGING_URL,
      blobs: settings.BLOB_URL,
    },
  }
}

function secretsIn(file: string): z.infer<typeof Secrets> {
  if (existsSync(file)) return Secrets.parse(JSON.parse(readFileSync(file, 'utf8')))
  const secrets = {
    encryptionKey: randomBytes(32).toString('base64'),
    password: randomBytes(15).toString('base64url'),
  }
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`)
  return secrets
}
