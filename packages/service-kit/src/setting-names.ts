/** Names of all settings of all processes and commands, to distinguish misspelled settings from unrelated variables. */
const SETTING_NAMES: readonly string[] = [
  'AUDIT_PUSH_EVERY',
  'AUDIT_PUSH_TOKEN',
  'AUDIT_PUSH_URL',
  'AWS_ACCESS_KEY_ID',
  'AWS_ENDPOINT_URL_S3',
  'AWS_REGION',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'BASE_PATH',
  'BASE_URL',
  'BLOB_URL',
  'BODY_MEMORY',
  'CATALOG_URL',
  'CORS_ORIGINS',
  'DATA_DIR',
  'DEPLOYMENT_TIMEOUT',
  'ENCRYPTION_KEY',
  'EVENT_STORE_URL',
  'GANTRY_ADMIN_PASSWORD',
  'GANTRY_ADMIN_USERNAME',
  'GANTRY_TOKEN',
  'HOST',
  'IDENTITY_URL',
  'INTERNAL_PORT',
  'LOGIN_LIMIT_PER_MINUTE',
  'LOG_LEVEL',
  'MAX_CONNECTIONS',
  'MAX_VERSIONS_PER_API',
  'MEDIA_URL',
  'MESSAGE_RETENTION',
  'MESSAGING_REPLICAS',
  'MESSAGING_URL',
  'METRICS_PORT',
  'NATS_CA',
  'NATS_CERT',
  'NATS_CREDENTIALS',
  'NATS_KEY',
  'NATS_PASSWORD',
  'NATS_USER',
  'NOTIFIER_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'PLATFORM_JWT_AUDIENCE',
  'PLATFORM_JWT_ISSUER',
  'PLATFORM_JWT_JWKS_URL',
  'PLATFORM_JWT_PUBLIC_KEY',
  'PLATFORM_JWT_USER_CLAIM',
  'PORT',
  'PRINCIPAL_KEY',
  'PUBLIC_URL',
  'RATE_LIMIT_PER_MINUTE',
  'READ_MODEL_URL',
  'RECEIVER_PORT',
  'SHUTDOWN_DELAY',
  'SHUTDOWN_TIMEOUT',
  'TRUST_PROXY',
  'USER_KEY_BACKUP_RETENTION',
  'USER_KEY_URL',
  'WEBHOOK_ALLOWED_CIDRS',
  'WEBHOOK_RATE_PER_SECOND',
  'WEBHOOK_RETENTION',
  'WEBHOOK_RETRY_SCHEDULE',
  'WEBHOOK_SECRET',
  'WEBHOOK_TIMEOUT',
]

const KNOWN = new Set(SETTING_NAMES.flatMap(name => [name, `${name}_FILE`]))

/** Unrelated variables that resemble a setting. Mesos Marathon sets PORTS for every task. */
const FOREIGN = new Set(['PORTS'])

/**
 * Finds variables that are not settings and differ from one by one letter changed, added or left out, or by two adjacent
 * letters swapped. Digits do not count as letters, because Mesos Marathon sets PORT0 and PORT1.
 * @returns a line per variable, with the similar settings
 */
export function misspelledSettings(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment)
    .filter(name => !KNOWN.has(name) && !FOREIGN.has(name))
    .flatMap(name => {
      const meant = [...KNOWN].filter(known => isOneLetterApart(name, known))
      return meant.length > 0 ? [`${name}: is not a setting; did you mean ${meant.join(' or ')}?`] : []
    })
}

/** Compares two different texts. */
function isOneLetterApart(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const [left, right] = [one, other].map(text => text.slice(start, text.length - end)) as [string, string]
  const swapped = left.length === 2 && left === [...right].toReversed().join('')
  return swapped || (/^\D?$/.test(left) && /^\D?$/.test(right))
}
