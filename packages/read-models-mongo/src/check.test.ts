import { ReadModelsUnavailable } from '@gantry/read-models'
import type { Document } from 'mongodb'
import { afterEach, describe, expect, it } from 'vitest'
import { checkReadModels } from './check.ts'
import { fakeServer, HELLO } from './fixtures/fake-server.ts'
import { mongoReadModels } from './read-models.ts'
import { MongoRefused } from './settings.ts'

let server: Awaited<ReturnType<typeof fakeServer>> | undefined
afterEach(() => server?.close())

/** A server that is as it should be but for these answers. */
const serverWith = async (answers: Record<string, Document>) => {
  const usual = { hello: HELLO, buildInfo: { ok: 1, version: '7.0.14' }, update: { ok: 1, n: 1 } }
  server = await fakeServer(command => ({ ...usual, ...answers })[command as 'hello'] ?? { ok: 1 })
  return server.url
}

describe('the check of READ_MODEL_URL', () => {
  it('tells the version of a server that stores', async () => {
    expect(await checkReadModels({ url: await serverWith({}) })).toBe('MongoDB 7.0.14')
  })

  it.each([
    [{ ferretdbVersion: 'v1.24.2' }, 'FerretDB v1.24.2, which is like MongoDB 7.0.42'],
    [{ ferretdb: { version: 'v2.7.0', package: 'docker' } }, 'FerretDB v2.7.0, which is like MongoDB 7.0.42'],
    [{ ferretdb: {} }, 'FerretDB 2, which is like MongoDB 7.0.42'],
  ])('tells when it is FerretDB: %j', async (extension, told) => {
    const buildInfo = { ok: 1, version: '7.0.42', ...extension }
    expect(await checkReadModels({ url: await serverWith({ buildInfo }) })).toBe(told)
  })

  it.each([
    [9, 'leads to MongoDB 4.4.29; it has to be MongoDB 5.0 or newer'],
    [6, 'leads to a server too old; it has to be MongoDB 5.0 or newer'],
  ])('refuses a server of the wire version %i', async (maxWireVersion, words) => {
    const url = await serverWith({
      hello: { ...HELLO, maxWireVersion },
      buildInfo: { ok: 1, version: '4.4.29' },
    })
    const refused = checkReadModels({ url })
    await expect(refused).rejects.toThrow(MongoRefused)
    await expect(refused).rejects.toThrow(`READ_MODEL_URL ${url} ${words}`)
  })

  const unavailable: [what: string, answers: Record<string, Document>, words: string][] = [
    [
      'a user who may not write',
      { update: { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on gantry' } },
      'the user may not read and write the database',
    ],
    [
      'a replica set without a majority',
      {
        update: { ok: 1, n: 1, writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } },
      },
      'a majority of the replica set does not confirm writes',
    ],
    [
      'a replica set that was never initiated',
      { hello: { ...HELLO, ismaster: false, isWritablePrimary: false, isreplicaset: true } },
      'it has no primary; is the replica set initiated, and a majority of it up?',
    ],
    ['a server in trouble', { update: { ok: 0, code: 14031, errmsg: 'disk full' } }, 'it says: disk full'],
  ]
  it.each(unavailable)('names the setting for %s', async (_, answers, words) => {
    const url = await serverWith(answers)
    const refused = checkReadModels({ url })
    await expect(refused).rejects.toThrow(ReadModelsUnavailable)
    await expect(refused).rejects.toThrow(`read models unavailable: READ_MODEL_URL ${url}: ${words}`)
  })

  it('says in two seconds that nobody is there, here and in every call', async () => {
    const url = await serverWith({})
    await server?.close()
    const startedAt = performance.now()
    const words = `read models unavailable: READ_MODEL_URL ${url}: the connection was refused; is a MongoDB server`
    await expect(checkReadModels({ url })).rejects.toThrow(words)
    const readModels = mongoReadModels({ url })
    const pings = await Promise.allSettled([readModels.ping(), readModels.ping()])
    for (const ping of pings) expect(String((ping as PromiseRejectedResult).reason)).toContain(words)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    await readModels.close()
  })

  it('says that there is no such host', async () => {
    await expect(checkReadModels({ url: 'mongodb://no-such-host.invalid/gantry' })).rejects.toThrow(
      /READ_MODEL_URL mongodb:\/\/no-such-host.invalid:27017\/gantry: (there is no such host|the name of the host)/,
    )
  })

  it.each([
    ['', 'is no URL of MongoDB'],
    ['localhost:27017', 'is no URL of MongoDB'],
    ['postgres://localhost/gantry', 'is no URL of MongoDB'],
    ['mongodb://', 'cannot be used'],
    ['mongodb://user:secret@host:port/gantry', 'cannot be used'],
    ['mongodb://user:secret@host/gantry?no-option', 'cannot be used'],
    ['mongodb+srv://user:secret@host:1/gantry', 'cannot be used'],
  ])('refuses %j, and tells no secrets', url => {
    const open = () => mongoReadModels({ url })
    expect(open).toThrow(MongoRefused)
    expect(open).toThrow(/^READ_MODEL_URL .*: it reads like mongodb:\/\/host:27017\/gantry$/)
    expect(open).not.toThrow('secret')
  })

  it('names another setting where the URL is from that', async () => {
    expect(() => mongoReadModels({ url: 'x', setting: 'BLOB_URL' })).toThrow(/^BLOB_URL is no URL/)
  })
})
