import { inspect } from 'node:util'
import { readSettings } from '@gantry/service-runtime'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { busSettings, storeSettings } from '../settings.ts'
import { watchBackingStores } from './backing-stores.ts'
import { openBus } from './bus.ts'
import { openStores } from './stores.ts'

const SECRET = 'hunter2'
/** User, password, and an address without a listener. */
const NOWHERE = `gantry:${SECRET}@127.0.0.1:1`
const GIVEN = {
  MESSAGING_URL: `nats://${NOWHERE}`,
  EVENT_STORE_URL: `esdb://${NOWHERE}?tls=false`,
  READ_MODEL_URL: `mongodb://${NOWHERE}/gantry`,
}
const schema = busSettings.extend(storeSettings.shape)

/** The log and all errors of a process that opens the backing stores of its settings and checks each once. */
async function saidOf(environment: Record<string, string>): Promise<string> {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: line => void lines.push(line) })
  const failed: unknown[] = []
  try {
    const settings = readSettings(schema, { ...GIVEN, ...environment })
    const bus = openBus(settings, { name: 'catalog', log })
    const stores = openStores(settings)
    const backingStores = [bus.backingStore, ...stores.backingStores]
    const watch = watchBackingStores(backingStores, log)
    const tried = await Promise.allSettled(backingStores.map(backingStore => backingStore.check()))
    failed.push(...tried.map(outcome => outcome.status === 'rejected' && outcome.reason))
    failed.push(watch.trouble())
    watch.stop()
    await Promise.all([bus.store.close(), stores.close()])
  } catch (error) {
    failed.push(error)
  }
  for (const err of failed) log.error({ err }, 'failed')
  return [...lines, ...failed.map(error => inspect(error, { depth: 10 }))].join('\n')
}

describe('A password in a URL appears neither in the log nor in an error', () => {
  test.concurrent.each([
    ['of unavailable backing stores', {}],
    [
      'of unavailable backing stores with TLS',
      { MESSAGING_URL: `tls://${NOWHERE}`, EVENT_STORE_URL: `esdb://${NOWHERE}` },
    ],
    ['of an unavailable MongoDB with TLS', { READ_MODEL_URL: `mongodb://${NOWHERE}/gantry?tls=true` }],
    [
      'of an unavailable cluster',
      { EVENT_STORE_URL: `esdb://gantry:${SECRET}@127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=1` },
    ],
  ])('%s', async (_, environment) => {
    const said = await saidOf(environment)
    expect(said).toContain('127.0.0.1:1')
    expect(said).not.toContain(SECRET)
  })

  test.each([
    ['MESSAGING_URL', `nats://gan%try:${SECRET}@bus`],
    ['MESSAGING_URL', `nats://gantry:${SECRET}@bus/stream`],
    ['MESSAGING_URL', `nats://gantry:${SECRET}@b us`],
    ['MESSAGING_URL', `amqp://gantry:${SECRET}@bus`],
    ['EVENT_STORE_URL', `esdb://gantry:${SECRET}@log?colour=red`],
    ['EVENT_STORE_URL', `esdb://gantry:${SECRET}@log:port?tls=false`],
    ['EVENT_STORE_URL', `esdb://gantry:${SECRET}`],
    ['EVENT_STORE_URL', `http://gantry:${SECRET}@log`],
    ['READ_MODEL_URL', `mongodb://gantry:${SECRET}@views/gantry?colour=red`],
    ['READ_MODEL_URL', `mongodb://gantry:${SECRET}@views:port/gantry`],
    ['READ_MODEL_URL', `mongodb://gantry:%${SECRET}@views/gantry`],
    ['READ_MODEL_URL', `mongodb://gantry:${SECRET}@views/gantry?tls=perhaps`],
    ['READ_MODEL_URL', `postgres://gantry:${SECRET}@views`],
  ])('when %s=%s is refused', async (setting, url) => {
    const said = await saidOf({ [setting]: url })
    expect(said).toContain(setting)
    expect(said).not.toContain(SECRET)
  })
})
