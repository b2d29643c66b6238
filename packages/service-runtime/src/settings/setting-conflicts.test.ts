import { expect, test } from 'vitest'
import { settingConflicts } from './setting-conflicts.ts'

const DAY_MS = 86_400_000
/** The conflicts of settings that the operator has set, beside defaults. */
const conflicts = (given: object, defaults: object = {}) =>
  settingConflicts({ ...defaults, ...given }, new Set(Object.keys(given)))

test.for<[object, string]>([
  [{ PORT: 80, INTERNAL_PORT: 80 }, 'INTERNAL_PORT: must be another port than PORT'],
  [{ PORT: 80, METRICS_PORT: 80 }, 'METRICS_PORT: must be another port than PORT'],
  [
    { EVENT_STORE_URL: 'sqlite:/data/a.db', READ_MODEL_URL: 'sqlite:/data/../data/a.db' },
    'READ_MODEL_URL: must be another store than EVENT_STORE_URL',
  ],
  [
    { READ_MODEL_URL: 'mongodb://a,b/gantry?tls=true', USER_KEY_URL: 'mongodb://a,b/gantry' },
    'USER_KEY_URL: must be another store than READ_MODEL_URL',
  ],
  [
    { MESSAGING_URL: 'sqlite:a.db', EVENT_STORE_URL: 'sqlite:./a.db' },
    'MESSAGING_URL: must be another store than EVENT_STORE_URL',
  ],
  [
    { NATS_USER: 'gantry', NATS_CREDENTIALS: '-----BEGIN' },
    'NATS_CREDENTIALS: cannot be used together with NATS_USER; remove one of them',
  ],
  [
    { NATS_PASSWORD: 's3cret', MESSAGING_URL: 'nats://a:4222' },
    'NATS_PASSWORD: has no effect without a user; set NATS_USER as well',
  ],
  [{ NATS_CERT: 'x' }, 'NATS_CERT: has no effect without NATS_KEY; remove it, or set that as well'],
  [{ NATS_KEY: 'x' }, 'NATS_KEY: has no effect without NATS_CERT; remove it, or set that as well'],
  [
    { MESSAGING_REPLICAS: 3, MESSAGING_URL: 'sqlite:messages.db' },
    'MESSAGING_REPLICAS: must be 1, because the messages are stored in a file; several need NATS',
  ],
  [
    { MESSAGING_REPLICAS: 3, DATA_DIR: './data' },
    'MESSAGING_REPLICAS: must be 1, because the messages are stored in a file; several need NATS',
  ],
  [
    { MESSAGE_RETENTION: DAY_MS, WEBHOOK_RETENTION: 2 * DAY_MS },
    'MESSAGE_RETENTION: must not be shorter than WEBHOOK_RETENTION, which is 2d',
  ],
  [
    { RATE_LIMIT_PER_MINUTE: 10, LOGIN_LIMIT_PER_MINUTE: 20 },
    'LOGIN_LIMIT_PER_MINUTE: must be at most RATE_LIMIT_PER_MINUTE, which is 10',
  ],
  [{ CORS_ORIGINS: ['*', 'https://a.example'] }, 'CORS_ORIGINS: must be * alone, or origins without it'],
  [
    { AUDIT_PUSH_EVERY: 60_000 },
    'AUDIT_PUSH_EVERY: has no effect without AUDIT_PUSH_URL; remove it, or set that as well',
  ],
  [
    { AUDIT_PUSH_TOKEN: 's3cret' },
    'AUDIT_PUSH_TOKEN: has no effect without AUDIT_PUSH_URL; remove it, or set that as well',
  ],
  [
    { AUDIT_PUSH_TOKEN: 's3cret', AUDIT_PUSH_URL: new URL('s3://bucket/audit') },
    'AUDIT_PUSH_TOKEN: has no effect with s3: in AUDIT_PUSH_URL; use the settings AWS_…',
  ],
  [
    { PLATFORM_JWT_USER_CLAIM: 'account' },
    'PLATFORM_JWT_USER_CLAIM: has no effect without PLATFORM_JWT_JWKS_URL or PLATFORM_JWT_PUBLIC_KEY; remove it, or set that as well',
  ],
])('%j is refused', ([settings, line]) => {
  expect(conflicts(settings)).toEqual([line])
})

test('the default of a limit or of an interval contradicts nothing', () => {
  const defaults = {
    PORT: 8080,
    INTERNAL_PORT: 8081,
    RATE_LIMIT_PER_MINUTE: 0,
    LOGIN_LIMIT_PER_MINUTE: 20,
    AUDIT_PUSH_EVERY: 3_600_000,
    PLATFORM_JWT_USER_CLAIM: 'sub',
    CORS_ORIGINS: [],
    WEBHOOK_RETENTION: 30 * DAY_MS,
  }
  expect(conflicts({}, defaults)).toEqual([])
  for (const given of [
    { RATE_LIMIT_PER_MINUTE: 10 },
    { LOGIN_LIMIT_PER_MINUTE: 100 },
    { PORT: 0, INTERNAL_PORT: 0 },
    { MESSAGING_REPLICAS: 1, DATA_DIR: './data' },
    { MESSAGING_REPLICAS: 3, MESSAGING_URL: 'nats://a:4222' },
    { NATS_PASSWORD: 's3cret', MESSAGING_URL: 'nats://gantry@a:4222' },
    { NATS_USER: 'gantry', NATS_PASSWORD: 's3cret', MESSAGING_URL: 'nats://a:4222' },
    { READ_MODEL_URL: 'mongodb://a/gantry', USER_KEY_URL: 'mongodb://a/keys' },
    { CORS_ORIGINS: ['*'] },
  ])
    expect(conflicts(given, defaults)).toEqual([])
})
