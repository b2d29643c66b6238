import { basePath, bodyMemory, duration, key, origins, otherThanPort, port } from '@gantry/service-kit'
import { z } from 'zod'

/** A URL of one of these schemes, or sqlite:PATH of a file that processes of one host have together. */
const storeUrl = (schemes: readonly string[], example: string) =>
  z.string().refine(url => [...schemes, 'sqlite:'].some(scheme => url.startsWith(scheme) && url !== scheme), {
    error: `must be such as ${example}, or sqlite:PATH`,
  })

const pem = z.string().refine(text => text.includes('-----BEGIN '), { error: 'must be PEM: -----BEGIN …' })

/** How the bus is reached, and who one is there. */
export const busSettings = z.object({
  MESSAGING_URL: z
    .string({ error: 'must be set: nats://host:4222' })
    .pipe(storeUrl(['nats://', 'tls://'], 'nats://host:4222')),
  /** Who one is on NATS, unless MESSAGING_URL says it: a user, a token, the text of a .creds file, or an nkey. */
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: z.string().optional(),
  NATS_TOKEN: z.string().optional(),
  NATS_CREDENTIALS: z.string().optional(),
  NATS_NKEY_SEED: z
    .string()
    .regex(/^SU[A-Z2-7]{56}$/, { error: 'must be the seed of a user: SU…' })
    .optional(),
  /** The authority that signed the certificate of NATS, where that is none of the public ones. */
  NATS_CA: pem.optional(),
  /** What one shows to a NATS that asks for certificates. */
  NATS_CERT: pem.optional(),
  NATS_KEY: pem.optional(),
})
export type BusSettings = z.infer<typeof busSettings>

/** What every process reads from the environment. */
export const processSettings = z.object({
  PORT: port.default(8080),
  HOST: z.string().default('0.0.0.0'),
  /** The same for all processes. */
  BASE_PATH: basePath.default(''),
  /** Bytes of request bodies that may be in memory at once. */
  BODY_MEMORY: bodyMemory,
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  ...busSettings.shape,
  /** Between the end of readiness and the end of listening: whoever balances has to see the first before the second. */
  SHUTDOWN_DELAY: duration.default(2_000),
})
export type ProcessSettings = z.infer<typeof processSettings>

/** The keys of the services. */
export const keySettings = z.object({
  /** The same for all services: seals secrets, and unless PRINCIPAL_KEY is set, vouches for who is calling. */
  ENCRYPTION_KEY: key('must be set, and be the same for all services: openssl rand -base64 32'),
  /** What the gateway vouches with, where it has no ENCRYPTION_KEY. */
  PRINCIPAL_KEY: key().optional(),
})

/** What every service reads beside that. */
export const storeSettings = z.object({
  /** The log. */
  EVENT_STORE_URL: z
    .string({ error: 'must be set: esdb://host:2113' })
    .pipe(storeUrl(['esdb://', 'esdb+discover://'], 'esdb://host:2113')),
  /** Read models and leases. */
  READ_MODEL_URL: z
    .string({ error: 'must be set: mongodb://host:27017/gantry' })
    .pipe(storeUrl(['mongodb://', 'mongodb+srv://'], 'mongodb://host:27017/gantry')),
  /** The bytes of images: GridFS in the database of the read models if it is not said. */
  BLOB_URL: z
    .string()
    .refine(url => /^(file:|mongodb(\+srv)?:\/\/)./.test(url), {
      error: 'must be such as mongodb://host:27017/gantry, or file:FOLDER',
    })
    .optional(),
})
export type StoreSettings = z.infer<typeof storeSettings>

/** How services ask each other. */
export const peerSettings = z.object({
  /** Where it answers what other services and the gateway ask it beside operations, and /metrics. */
  INTERNAL_PORT: port.default(8081),
  /** Where it finds those that it asks; over the bus what is not set, which fails while that is away. */
  CATALOG_URL: origins.optional(),
  MEDIA_URL: origins.optional(),
})

/** What every service reads from the environment, beside settings of its own. */
export const serviceSettings = keySettings
  .extend(processSettings.shape)
  .extend(storeSettings.shape)
  .extend(peerSettings.shape)
  .check(otherThanPort('INTERNAL_PORT'))
