import { z } from 'zod'
import { operation } from './operation.ts'
import { Timestamp } from './primitives.ts'

const Lag = z
  .object({
    name: z.string().meta({ description: 'As in the labels of the metrics, e.g. `catalog.projector`' }),
    kind: z.enum(['PROJECTOR', 'RELAY', 'CONSUMER']).meta({ id: 'LagKind' }),
    events: z.int().nullable().meta({
      description:
        'Events of the log, or messages of the bus, that it has not handled; estimated above 1,000 for projectors and relays. Null while its backing store does not answer',
    }),
    seconds: z.number().nullable().meta({
      description:
        'Age of the first of them; 0 without one. For a consumer: age of the message that is being handled',
    }),
  })
  .meta({ id: 'Lag' })
export type Lag = z.infer<typeof Lag>

const BackingStoreState = z.object({
  purpose: z
    .enum(['EVENT_LOG', 'READ_MODELS', 'MESSAGE_BUS', 'USER_KEYS', 'IMAGES'])
    .meta({ id: 'StorePurpose' }),
  kind: z.string().meta({ description: 'e.g. EventStoreDB, MongoDB, NATS, SQLite' }),
  version: z.string().nullable().meta({
    description: 'As it was when the process connected to it; null if it is not known or there is none',
  }),
  status: z.enum(['AVAILABLE', 'UNAVAILABLE']).meta({ id: 'StoreStatus' }),
})
export type BackingStoreState = z.infer<typeof BackingStoreState>

/** What a process says about itself: part of the answer to `requests.processState`. */
export const ProcessState = z.object({
  host: z.string(),
  version: z.string(),
  node: z.string(),
  startedAt: Timestamp,
  waitsFor: z.string().nullable(),
  backingStores: z.array(BackingStoreState),
})
export type ProcessState = z.infer<typeof ProcessState>

/** The answer to `requests.processState`: a process that runs a service, with the lag of the service. */
export const ServiceState = ProcessState.extend({ lag: z.array(Lag) })
export type ServiceState = z.infer<typeof ServiceState>

const ReplicaStatus = z.enum(['READY', 'NOT_READY', 'UNAVAILABLE']).meta({ id: 'ReplicaStatus' })

const Replica = z
  .object({
    status: ReplicaStatus.meta({
      description: 'UNAVAILABLE: it has not answered within seconds',
    }),
    version: z.string().nullable().meta({ description: 'The release that it runs; null if it is not known' }),
    host: z.string().nullable().meta({ description: 'Name of its machine or pod; null if it does not tell' }),
    node: z.string().nullable().meta({ description: 'Version of Node.js' }),
    startedAt: Timestamp.nullable(),
    waitsFor: z.string().nullable().meta({ description: 'What it waits for while it is NOT_READY' }),
  })
  .meta({ id: 'Replica' })

export const System = z
  .object({
    services: z.array(
      z
        .object({
          name: z.string(),
          status: ReplicaStatus.meta({ description: 'The best status of its replicas' }),
          replicas: z.array(Replica).meta({
            description: 'Those that the gateway which answers knows. Of the gateways, it knows itself alone',
          }),
        })
        .meta({ id: 'SystemService' }),
    ),
    lag: z
      .array(Lag.extend({ service: z.string() }).meta({ id: 'ServiceLag' }))
      .meta({ description: 'Of the services that have answered' }),
    backingStores: z
      .array(BackingStoreState.extend({ services: z.array(z.string()) }).meta({ id: 'BackingStore' }))
      .meta({
        description:
          'As the services see them; an entry for each difference between services. A folder of images, or images beside the read models, have none',
      }),
  })
  .meta({ id: 'System' })
export type System = z.infer<typeof System>

const replica: z.infer<typeof Replica> = {
  status: 'READY',
  version: '1.4.0',
  host: 'gantry-catalog-6d5f7c9b8-x2x7q',
  node: '24.21.0',
  startedAt: '2026-11-21T09:00:00.000Z',
  waitsFor: null,
}

export const getSystem = operation('getSystem', 'GET /system', {
  service: 'gateway',
  tag: 'System',
  summary: 'Get the state of the services, their lag and their backing stores',
  description:
    'The services are asked when the request arrives. The answer waits for them for at most three seconds; one that does not answer is shown as UNAVAILABLE.',
  scope: 'CONFIGURATION_READ',
  responses: {
    200: {
      description: 'The state of the installation',
      schema: System,
      example: {
        services: [{ name: 'catalog', status: 'READY', replicas: [replica] }],
        lag: [{ name: 'catalog.projector', kind: 'PROJECTOR', service: 'catalog', events: 0, seconds: 0 }],
        backingStores: [
          {
            purpose: 'EVENT_LOG',
            kind: 'EventStoreDB',
            version: '23.10.6',
            status: 'AVAILABLE',
            services: ['catalog'],
          },
        ],
      } satisfies System,
    },
  },
})

export const SigningKeyRecord = z
  .object({
    kid: z.string().meta({ description: 'Thumbprint of the public key (RFC 7638)' }),
    purpose: z.enum(['LOGIN', 'AUDIT']).meta({
      id: 'KeyPurpose',
      description: 'LOGIN: signs login tokens. AUDIT: signs audit proofs; never accepted for a login',
    }),
    status: z.enum(['NEXT', 'CURRENT', 'RETIRED', 'REVOKED']).meta({
      id: 'KeyStatus',
      description: 'NEXT: published, and signs from signsFrom on. REVOKED: its signatures are refused',
    }),
    publicKey: z
      .looseObject({ kty: z.string(), crv: z.string(), x: z.string() })
      .meta({ id: 'PublicKey', description: 'JSON Web Key (RFC 8037)' }),
    madeAt: Timestamp,
    signsFrom: Timestamp,
    retiredAt: Timestamp.nullable().meta({
      description: 'Time from which the next key signs instead; may be in the future',
    }),
    revokedAt: Timestamp.nullable(),
    acceptedUntil: Timestamp.nullable().meta({
      description: 'Time until which its signatures are accepted; null if no end is known',
    }),
  })
  .meta({ id: 'SigningKey' })
export type SigningKeyRecord = z.infer<typeof SigningKeyRecord>

const keyExample: SigningKeyRecord = {
  kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  purpose: 'LOGIN',
  status: 'CURRENT',
  publicKey: { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
  madeAt: '2026-11-21T09:00:00.000Z',
  signsFrom: '2026-11-21T09:10:00.000Z',
  retiredAt: null,
  revokedAt: null,
  acceptedUntil: null,
}

export const listSigningKeys = operation('listSigningKeys', 'GET /signingKeys', {
  service: 'identity',
  tag: 'System',
  summary: 'List the keys that sign login tokens and audit proofs',
  description:
    'All keys that ever were, by purpose, the newest first. Only their public parts. Programs that verify signatures use the key sets under /.well-known, which need no credentials.',
  scope: 'CONFIGURATION_READ',
  responses: {
    200: { description: 'The keys', schema: z.array(SigningKeyRecord), example: [keyExample] },
  },
})
