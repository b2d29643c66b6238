import { s3Location } from '@gantry/s3'
import {
  basePath,
  bodyMemory,
  duration,
  encryptionKeys,
  key,
  origins,
  port,
  responseMemory,
  shutdownTimeout,
} from '@gantry/service-runtime'
import { tracingSettings } from '@gantry/tracing'
import { z } from 'zod'

/** A URL with one of the schemes, or sqlite:PATH of a file that the processes of one host share. */
const storeUrl = (schemes: readonly string[], example: string) =>
  z.string().refine(url => [...schemes, 'sqlite:'].some(scheme => url.startsWith(scheme) && url !== scheme), {
    error: `must be such as ${example}, or sqlite:PATH`,
  })

/** A secret setting: the chart takes its value from a Secret, never from the values that others may read. */
const secret = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description, secret: true })

const pem = z.string().refine(text => text.includes('-----BEGIN '), { error: 'must be PEM: -----BEGIN …' })

/** Address of the bus, and credentials for it. */
export const busSettings = z.object({
  MESSAGING_URL: z
    .string({ error: 'must be set: nats://host:4222' })
    .pipe(storeUrl(['nats://', 'tls://'], 'nats://host:4222'))
    .describe('URL of NATS, `nats://host:4222` or `tls://…`; several are separated by commas.'),
  NATS_USER: secret(z.string().optional(), 'The user on NATS, unless it is in `MESSAGING_URL`.'),
  NATS_PASSWORD: secret(z.string().optional(), 'The password of the user.'),
  NATS_CREDENTIALS: secret(
    z.string().optional(),
    'Instead of a user: the text of a `.creds` file, or the seed of an nkey.',
  ),
  NATS_CA: secret(
    pem.optional(),
    'PEM of the authority that signed the certificate of NATS, unless it is a public one.',
  ),
  NATS_CERT: secret(pem.optional(), 'PEM of the client certificate, for a NATS server that requires one.'),
  NATS_KEY: secret(pem.optional(), 'PEM of its key.'),
})
export type BusSettings = z.infer<typeof busSettings>

/** The settings of the server of every process. */
export const serverSettings = tracingSettings.extend({
  PORT: port.prefault('8080').describe('Port for operations and `/health/*`.'),
  HOST: z.string().default('0.0.0.0').describe('Address of all ports.'),
  BASE_PATH: basePath
    .prefault('')
    .describe('Prefix of every path, including health checks; the same in all processes.'),
  BODY_MEMORY: bodyMemory,
  RESPONSE_MEMORY: responseMemory,
  SHUTDOWN_TIMEOUT: shutdownTimeout,
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Level of the log, which is JSON lines on stdout.'),
})
export type ServerSettings = z.infer<typeof serverSettings>

/** The settings of every process of an installation of several processes. */
export const processSettings = serverSettings.extend({
  ...busSettings.shape,
  SHUTDOWN_DELAY: duration
    .refine(ms => ms <= 3_600_000, { error: 'must be at most 1h' })
    .prefault('2s')
    .describe(
      'How long a process still answers requests after SIGTERM while it is not ready, so that load balancers stop routing ' +
        'first; at most 1h.',
    ),
})
export type ProcessSettings = z.infer<typeof processSettings>

/** PRINCIPAL_KEY, of the gateway and of the services. */
export const principalKeySetting = key()
  .optional()
  .meta({
    description:
      'Key of 32 bytes in base64 or hexadecimal, the same in all processes, with which the gateway signs forwarded ' +
      'requests. A gateway that has this key needs no `ENCRYPTION_KEY`, and should have none.',
    shown: 'derived from the first key of `ENCRYPTION_KEY`',
  })

export const keySettings = z.object({
  ENCRYPTION_KEY: encryptionKeys(
    'must be set, and be the same for all services: openssl rand -base64 32',
  ).describe(
    'Key of 32 bytes in base64 or hexadecimal; the same in all services. Or several keys `ID:KEY`, separated by commas: ' +
      'the first encrypts, all decrypt. A key without an id has the id `0`.',
  ),
  PRINCIPAL_KEY: principalKeySetting,
})

export const storeSettings = z.object({
  EVENT_STORE_URL: z
    .string({ error: 'must be set: esdb://host:2113' })
    .pipe(storeUrl(['esdb://', 'esdb+discover://'], 'esdb://host:2113'))
    .describe('URL of EventStoreDB, `esdb://host:2113`; without TLS `?tls=false`.'),
  READ_MODEL_URL: z
    .string({ error: 'must be set: mongodb://host:27017/gantry' })
    .pipe(storeUrl(['mongodb://', 'mongodb+srv://'], 'mongodb://host:27017/gantry'))
    .describe('URL of MongoDB with the database, `mongodb://host:27017/gantry`.'),
  // In a file: user-keys.db beside that of READ_MODEL_URL.
  USER_KEY_URL: storeUrl(['mongodb://', 'mongodb+srv://'], 'mongodb://host:27017/gantry-user-keys')
    .optional()
    .meta({
      description: 'Store of the [keys of users](#keys-of-users), for identity only: another MongoDB.',
      shown: 'the database of `READ_MODEL_URL` with the suffix `-user-keys`',
      secret: true,
    }),
  BLOB_URL: z
    .string()
    .refine(url => /^(file:|mongodb(\+srv)?:\/\/)./.test(url) || s3Location(url) !== undefined, {
      error:
        'must be such as mongodb://host:27017/gantry, s3://bucket/prefix without credentials, or file:FOLDER',
    })
    .optional()
    .meta({
      description:
        'Store of images, for media only: another MongoDB, `s3://bucket/prefix` ([Images in S3](#images-in-s3)), or ' +
        '`file:FOLDER` that all replicas share.',
      shown: 'GridFS in `READ_MODEL_URL`',
      secret: true,
    }),
})
export type StoreSettings = z.infer<typeof storeSettings>

/** The URLs of the services, for the processes that send them requests. */
export const urlsOfServices = z.object({
  CATALOG_URL: origins.describe(
    'URLs of catalog, for gateway, media and notifier: see [how replicas are found](#how-replicas-are-found).',
  ),
  IDENTITY_URL: origins.describe('URLs of identity, for gateway, catalog and notifier.'),
  MEDIA_URL: origins.describe('URLs of media, for gateway and catalog.'),
  NOTIFIER_URL: origins.describe('URLs of notifier, for gateway and catalog.'),
})

const internalPort = z.object({
  INTERNAL_PORT: port
    .prefault('8081')
    .describe('Port for `/metrics` and for requests of other processes; must differ from `PORT`.'),
})

export const serviceSettings = keySettings
  .extend(processSettings.shape)
  .extend(storeSettings.shape)
  .extend(internalPort.shape)
