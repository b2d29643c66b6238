import { s3Location } from '@gantry/s3'
import {
  basePath,
  bodyMemory,
  duration,
  encryptionKeys,
  key,
  origins,
  port,
  shutdownTimeout,
} from '@gantry/service-kit'
import { tracingSettings } from '@gantry/tracing'
import { z } from 'zod'

/** A URL of one of these schemes, or sqlite:PATH of a file that the processes of one host share. */
const storeUrl = (schemes: readonly string[], example: string) =>
  z.string().refine(url => [...schemes, 'sqlite:'].some(scheme => url.startsWith(scheme) && url !== scheme), {
    error: `must be such as ${example}, or sqlite:PATH`,
  })

const pem = z.string().refine(text => text.includes('-----BEGIN '), { error: 'must be PEM: -----BEGIN …' })

/** Address of the bus, and credentials for it. */
export const busSettings = z.object({
  MESSAGING_URL: z
    .string({ error: 'must be set: nats://host:4222' })
    .pipe(storeUrl(['nats://', 'tls://'], 'nats://host:4222')),
  /** Credentials for NATS, unless MESSAGING_URL has them: a user, the text of a .creds file, or the seed of an nkey. */
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: z.string().optional(),
  NATS_CREDENTIALS: z.string().optional(),
  /** Certificate of the authority that signed the certificate of NATS, unless it is a public one. */
  NATS_CA: pem.optional(),
  /** Client certificate, for a NATS server that requires one. */
  NATS_CERT: pem.optional(),
  NATS_KEY: pem.optional(),
})
export type BusSettings = z.infer<typeof busSettings>

/** The settings of the server of every process. */
export const serverSettings = tracingSettings.extend({
  PORT: port.default(8080),
  HOST: z.string().default('0.0.0.0'),
  /** Path prefix of all routes. Must be the same for all processes. */
  BASE_PATH: basePath.default(''),
  /** Maximum bytes of request bodies in memory. */
  BODY_MEMORY: bodyMemory,
  /** Time to complete requests and work in progress, from the closing of the listener. */
  SHUTDOWN_TIMEOUT: shutdownTimeout,
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
})
export type ServerSettings = z.infer<typeof serverSettings>

/** The settings of every process of an installation of several processes. */
export const processSettings = serverSettings.extend({
  ...busSettings.shape,
  /** Delay between failing readiness and closing the listener, so that load balancers stop routing first. */
  SHUTDOWN_DELAY: duration.refine(ms => ms <= 3_600_000, { error: 'must be at most 1h' }).default(2_000),
})
export type ProcessSettings = z.infer<typeof processSettings>

/** The keys of the services. */
export const keySettings = z.object({
  /** The first key encrypts secrets and, unless PRINCIPAL_KEY is set, signs principals. Must be the same for all services. */
  ENCRYPTION_KEY: encryptionKeys('must be set, and be the same for all services: openssl rand -base64 32'),
  /** Key that a gateway without ENCRYPTION_KEY signs principals with. */
  PRINCIPAL_KEY: key().optional(),
})

/** The settings of the stores of a service. */
export const storeSettings = z.object({
  /** The log. */
  EVENT_STORE_URL: z
    .string({ error: 'must be set: esdb://host:2113' })
    .pipe(storeUrl(['esdb://', 'esdb+discover://'], 'esdb://host:2113')),
  /** Read models and leases. */
  READ_MODEL_URL: z
    .string({ error: 'must be set: mongodb://host:27017/gantry' })
    .pipe(storeUrl(['mongodb://', 'mongodb+srv://'], 'mongodb://host:27017/gantry')),
  /** The keys of users. Default: the file user-keys.db beside, or the database with the suffix -user-keys of READ_MODEL_URL. */
  USER_KEY_URL: storeUrl(
    ['mongodb://', 'mongodb+srv://'],
    'mongodb://host:27017/gantry-user-keys',
  ).optional(),
  /** The bytes of images. Default: GridFS in the database of READ_MODEL_URL. */
  BLOB_URL: z
    .string()
    .refine(url => /^(file:|mongodb(\+srv)?:\/\/)./.test(url) || s3Location(url) !== undefined, {
      error:
        'must be such as mongodb://host:27017/gantry, s3://bucket/prefix without credentials, or file:FOLDER',
    })
    .optional(),
})
export type StoreSettings = z.infer<typeof storeSettings>

/** Settings of internal requests between processes. */
const peerSettings = z.object({
  /** Port for /metrics and for internal requests of other services and of the gateway. */
  INTERNAL_PORT: port.default(8081),
  /** URLs of other services. Requests to services without URLs use the bus, and fail while it is unavailable. */
  CATALOG_URL: origins.optional(),
  MEDIA_URL: origins.optional(),
})

/** The settings that all services have in common. */
export const serviceSettings = keySettings
  .extend(processSettings.shape)
  .extend(storeSettings.shape)
  .extend(peerSettings.shape)
