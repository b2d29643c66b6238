import { isIP } from 'node:net'
import { principalKeySetting, processSettings, urlsOfServices } from '@gantry/hosting'
import {
  derivedPrincipalKey,
  type EncryptionKeys,
  encryptionKeys,
  list,
  port,
  publicUrl,
  type ServerOptions,
  whole,
} from '@gantry/service-runtime'
import { z } from 'zod'

const isOrigin = (value: string) => URL.canParse(value) && new URL(value).origin === value

function isNetwork(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}

/** Addresses and networks of proxies; false for none. Never all addresses: any client could then forge its address. */
const proxies = z
  .string()
  .transform(value => (value.trim() === 'false' ? [] : list(value)))
  .refine(networks => networks.every(isNetwork), {
    error: 'must be addresses or networks such as 10.0.0.0/8, separated by commas, or false',
  })
  .transform(networks => (networks.length > 0 ? networks : (false as const)))

export const gatewaySettings = z.object({
  RATE_LIMIT_PER_MINUTE: whole(0, 10_000_000)
    .prefault('0')
    .describe(
      'Maximum requests of one caller, or of one address without credentials, per minute in all gateways together; 0 for no ' +
        'limit.',
    ),
  LOGIN_LIMIT_PER_MINUTE: whole(0, 10_000_000)
    .prefault('20')
    .describe('Maximum logins from one address per minute in all gateways together; 0 for no limit.'),
  CORS_ORIGINS: z
    .string()
    .transform(list)
    .refine(origins => origins.every(origin => origin === '*' || isOrigin(origin)), {
      error: 'must be origins such as https://portal.example.com, separated by commas, or *',
    })
    .default([])
    .describe('Web origins whose pages may call the API, separated by commas; `*` for all.'),
  TRUST_PROXY: proxies
    .prefault('false')
    .describe(
      'Networks of the proxies in front of the gateway, whose `X-Forwarded-For` is trusted, e.g. `10.0.0.0/8`.',
    ),
  METRICS_PORT: port.optional().meta({
    description: 'Port for `/metrics`, which is then at this port only; must differ from `PORT`.',
    shown: 'none: at `PORT`',
  }),
  MAX_CONNECTIONS: whole(0, 10_000_000)
    .prefault('10000')
    .describe(
      'Maximum open connections, half of them for one address that is not in `TRUST_PROXY`; 0 for no limit.',
    ),
  PUBLIC_CATALOG: z
    .enum(['true', 'false'])
    .transform(value => value === 'true')
    .prefault('false')
    .describe(
      'Whether `/.well-known/api-catalog` and the documents of ACTIVE APIs can be read without credentials.',
    ),
  PUBLIC_URL: publicUrl
    .optional()
    .describe(
      'Address of the service for its clients, e.g. https://gantry.example.com/manage; the same in gateway and notifier. ' +
        'Without it CloudEvents have no `dataschema`.',
    ),
})
export type GatewaySettings = z.infer<typeof gatewaySettings>

/** The options of the HTTP server that follow from the settings of the gateway. */
export const serverOptions = (settings: GatewaySettings): Pick<ServerOptions, 'clients'> => ({
  clients: {
    trustProxy: settings.TRUST_PROXY,
    connections: {
      total: settings.MAX_CONNECTIONS,
      perAddress: Math.ceil(settings.MAX_CONNECTIONS / 2),
      proxies: settings.TRUST_PROXY || [],
    },
  },
})

/** The second server, if METRICS_PORT is set. */
export const metricsServer = ({ METRICS_PORT: port }: GatewaySettings) =>
  port === undefined ? undefined : ({ setting: 'METRICS_PORT', port } as const)

const principalKeySettings = z.object({
  PRINCIPAL_KEY: principalKeySetting,
  ENCRYPTION_KEY: encryptionKeys().optional(),
})

/** The settings of the gateway when it runs as a separate process. */
export const gatewayProcessSettings = processSettings
  .extend(gatewaySettings.shape)
  .extend(urlsOfServices.shape)
  .extend(principalKeySettings.shape)
  .refine(({ PRINCIPAL_KEY, ENCRYPTION_KEY }) => PRINCIPAL_KEY ?? ENCRYPTION_KEY, {
    path: ['PRINCIPAL_KEY'],
    error: 'must be set, and be the same for all services and the gateway: openssl rand -base64 32',
    when: () => true,
  })

/** The key that signs the principals. The schema of the settings requires one of the two. */
export const principalKey = ({
  PRINCIPAL_KEY,
  ENCRYPTION_KEY,
}: z.infer<typeof principalKeySettings>): Uint8Array =>
  PRINCIPAL_KEY ?? derivedPrincipalKey((ENCRYPTION_KEY as EncryptionKeys).first.bytes)
