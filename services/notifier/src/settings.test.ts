import { readSettings, SettingsRefused } from '@gantry/service-runtime'
import { expect, test } from 'vitest'
import { notifierSettings } from './settings.ts'

const read = (environment: Record<string, string>) => readSettings(notifierSettings, environment)

test('all settings have defaults; durations and address ranges are parsed', () => {
  expect(read({})).toMatchObject({
    WEBHOOK_TIMEOUT: 15_000,
    WEBHOOK_ALLOWED_CIDRS: [],
    WEBHOOK_RETENTION: 30 * 86_400_000,
  })
  const settings = read({
    WEBHOOK_TIMEOUT: '200ms',
    WEBHOOK_RETRY_SCHEDULE: '5s, 5m,30m',
    WEBHOOK_ALLOWED_CIDRS: '10.0.0.0/8, fd00::/8',
    WEBHOOK_RETENTION: '7d',
  })
  expect(settings).toMatchObject({
    WEBHOOK_TIMEOUT: 200,
    WEBHOOK_RETRY_SCHEDULE: [5_000, 300_000, 1_800_000],
    WEBHOOK_RETENTION: 604_800_000,
  })
  expect(settings.WEBHOOK_ALLOWED_CIDRS.map(([address, bits]) => `${address}/${bits}`)).toEqual([
    '10.0.0.0/8',
    'fd00::/8',
  ])
})

test.for<[string, string, string]>([
  ['WEBHOOK_TIMEOUT', '1h', 'must be from 10ms to 5m'],
  ['WEBHOOK_RETRY_SCHEDULE', '5s,,5m', 'must be a duration such as 200ms, 5s, 5m or 2h, not ""'],
  ['WEBHOOK_RETRY_SCHEDULE', '31d', 'must have no pause over 30d'],
  ['WEBHOOK_ALLOWED_CIDRS', '127.0.0.1', 'must be ranges such as 10.0.0.0/8 or fd00::/8, not "127.0.0.1"'],
  ['WEBHOOK_RETENTION', '1s', 'must be from 1m to 3650d'],
])('%s=%s is refused with one line of explanation', ([name, value, reason]) => {
  expect(() => read({ [name]: value })).toThrow(new SettingsRefused(`${name}: ${reason}`))
})

test('messages are kept without limit or at least as long as deliveries', () => {
  expect(read({}).MESSAGE_RETENTION).toBeUndefined()
  expect(read({ MESSAGING_REPLICAS: '3' }).MESSAGING_REPLICAS).toBe(3)
  expect(() => read({ MESSAGING_REPLICAS: '6' })).toThrow('MESSAGING_REPLICAS: must be from 1 to 5')
  expect(read({ MESSAGE_RETENTION: '30d' }).MESSAGE_RETENTION).toBe(30 * 86_400_000)
  expect(() => read({ MESSAGE_RETENTION: '29d' })).toThrow(
    new SettingsRefused('MESSAGE_RETENTION: must not be shorter than WEBHOOK_RETENTION, which is 30d'),
  )
  const shorter = { MESSAGE_RETENTION: '90s', WEBHOOK_RETENTION: '90s' }
  expect(read(shorter).MESSAGE_RETENTION).toBe(90_000)
  expect(() => read({ ...shorter, WEBHOOK_RETENTION: '2m' })).toThrow(
    new SettingsRefused('MESSAGE_RETENTION: must not be shorter than WEBHOOK_RETENTION, which is 2m'),
  )
})
