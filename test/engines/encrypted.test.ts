import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import { checkReadModels, mongoReadModels } from '@gantry/read-models-mongo'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificates } from './src/certificates.ts'
import { startEsdbStandIn } from './src/esdb-stand-in.ts'
import { findMongo } from './src/find-mongo.ts'
import { tlsFront } from './src/tls-front.ts'

const folder = await mkdtemp(join(tmpdir(), 'gantry-encrypted-'))
afterAll(() => rm(folder, { recursive: true }))
const certificates = await makeCertificates(folder)
const mongo = await findMongo()
const own = mongo.found && mongo.kind !== 'url'
const skipped = certificates ? 'needs a MongoDB that the tests start' : 'there is no openssl'

const USER = { name: 'gantry', password: 'p@ss word' }
const ADMIN = { name: 'admin', password: 'changeit', admin: true }
const SIGNED_IN = `${USER.name}:${encodeURIComponent(USER.password)}@`

describe.skipIf(!certificates)(
  'EventStoreDB (its stand-in) with TLS and a password',
  { meta: { skipped } },
  () => {
    const start = async () => {
      if (!certificates) throw new Error('unreachable')
      const standIn = await startEsdbStandIn({ path: join(folder, randomUUID()), users: [USER, ADMIN] })
      const front = await tlsFront(standIn.port, certificates)
      onTestFinished(async () => {
        await front.stop()
        await standIn.stop()
      })
      return { host: `localhost:${front.port}`, ca: `tlsCAFile=${certificates.caFile}` }
    }

    test('connects as its URL says', async () => {
      const { host, ca } = await start()
      const url = `esdb://${SIGNED_IN}${host}?tls=true&${ca}`
      expect(await checkEventStore(url)).toContain('stand-in')
      const eventStore = esdbEventStore({ connectionString: url })
      onTestFinished(() => eventStore.close())
      const metadata = { actor: { id: null, name: 'test' }, requestId: 'r', at: '2026-11-21T10:00:00.000Z' }
      await eventStore.append(
        'orders-1',
        [{ id: randomUUID(), type: 'Placed', data: { n: 1 }, metadata }],
        -1,
      )
      const [event] = await eventStore.readStream('orders-1')
      expect(event).toMatchObject({ type: 'Placed', data: { n: 1 } })
    })

    test.each([
      ['an unknown certificate authority', ({ host }: Where) => `esdb://${SIGNED_IN}${host}?tls=true`],
      ['no TLS', ({ host }: Where) => `esdb://${SIGNED_IN}${host}?tls=false`],
    ])('is refused with %s by an error with the setting and no password', async (_, urlOf) => {
      const where = await start()
      const refused = checkEventStore(urlOf(where), 3_000)
      await expect(refused).rejects.toThrow(`EVENT_STORE_URL: EventStoreDB does not answer at ${where.host}`)
      await expect(refused).rejects.not.toThrow(/p@ss|p%40ss/)
    })

    test.each([
      ['another password', 'gantry:wrong@'],
      ['no password', ''],
    ])('refuses all calls with %s', async (_, user) => {
      const { host, ca } = await start()
      const eventStore = esdbEventStore({ connectionString: `esdb://${user}${host}?tls=true&${ca}` })
      onTestFinished(() => eventStore.close())
      await expect(eventStore.head()).rejects.toThrow(/UNAUTHENTICATED/)
      await expect(eventStore.readStream('orders-1')).rejects.toThrow(/UNAUTHENTICATED/)
    })
  },
)
interface Where {
  host: string
  ca: string
}

describe.skipIf(!certificates || !own)('MongoDB with TLS', { meta: { skipped } }, () => {
  const start = async () => {
    if (!certificates || !mongo.found) throw new Error('unreachable')
    const server = await mongo.start()
    const front = await tlsFront(Number(new URL(server.url).port), certificates)
    onTestFinished(async () => {
      await front.stop()
      await server.stop()
    })
    const options = 'directConnection=true'
    return { url: `mongodb://localhost:${front.port}/gantry?${options}`, ca: certificates.caFile }
  }

  test('is used with the options of its URL', async () => {
    const { url, ca } = await start()
    const encrypted = `${url}&tls=true&tlsCAFile=${encodeURIComponent(ca)}`
    await checkReadModels({ url: encrypted })
    const readModels = mongoReadModels({ url: encrypted })
    onTestFinished(() => readModels.close())
    await readModels.checkpoints.save('test', 'here')
    expect(await readModels.checkpoints.get('test')).toBe('here')
  }, 60_000)

  test.each([
    ['an unknown certificate authority', '&tls=true', /certificate/],
    ['no TLS', '', /connection|answer|closed/],
  ])(
    'is refused with %s by an error with the setting',
    async (_, options, reason) => {
      const { url } = await start()
      const refused = checkReadModels({ url: `${url}${options}` })
      await expect(refused).rejects.toThrow('READ_MODEL_URL')
      await expect(refused).rejects.toThrow(reason)
    },
    60_000,
  )
})
