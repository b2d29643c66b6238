import { readSettings } from '@gantry/service-runtime'
import { expect, test } from 'vitest'
import { serviceSettings } from './settings.ts'

const given = {
  ENCRYPTION_KEY: '00'.repeat(32),
  MESSAGING_URL: 'nats://bus:4222',
  EVENT_STORE_URL: 'esdb://log:2113?tls=false',
  READ_MODEL_URL: 'mongodb://views:27017/gantry',
}

test('the only required settings of a service are its backing stores and the key', () => {
  expect(readSettings(serviceSettings, given)).toMatchObject({
    PORT: 8080,
    INTERNAL_PORT: 8081,
    HOST: '0.0.0.0',
    SHUTDOWN_DELAY: 2_000,
    SHUTDOWN_TIMEOUT: 25_000,
  })
})

test.for([
  ['ENCRYPTION_KEY', undefined, 'must be set, and be the same for all services'],
  ['ENCRYPTION_KEY', 'short', 'must be 32 bytes'],
  ['PRINCIPAL_KEY', 'short', 'must be 32 bytes'],
  ['MESSAGING_URL', undefined, 'must be set: nats://host:4222'],
  ['MESSAGING_URL', 'amqp://bus', 'must be such as nats://host:4222'],
  ['EVENT_STORE_URL', undefined, 'must be set: esdb://host:2113'],
  ['EVENT_STORE_URL', 'mongodb://views', 'must be such as esdb://host:2113'],
  ['EVENT_STORE_URL', 'sqlite:', 'must be such as esdb://host:2113'],
  ['READ_MODEL_URL', 'postgres://views', 'must be such as mongodb://host:27017/gantry'],
  ['BLOB_URL', 's3://', 'must be such as mongodb://host:27017/gantry, s3://bucket/prefix'],
  ['BLOB_URL', 's3://key:secret@images', 's3://bucket/prefix without credentials, or file:FOLDER'],
  ['INTERNAL_PORT', '8080', 'must be another port than PORT'],
  ['INTERNAL_PORT', '65536', 'must be from 0 to 65535'],
  ['SHUTDOWN_DELAY', 'soon', 'must be a duration such as'],
  ['SHUTDOWN_DELAY', '30d', 'must be at most 1h'],
  ['SHUTDOWN_TIMEOUT', '0s', 'must be from 1s to 1h'],
] as const)('%s=%s is refused with a message that names the setting', ([setting, value, reason]) => {
  const line = new RegExp(`^${setting}: .*${reason.replace(/[.?/]/g, '\\$&')}.*$`)
  expect(() => readSettings(serviceSettings, { ...given, [setting]: value })).toThrow(line)
})

test('both ports may be 0 for any free port', () => {
  expect(() => readSettings(serviceSettings, { ...given, PORT: '0', INTERNAL_PORT: '0' })).not.toThrow()
})
