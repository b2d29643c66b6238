import { ReadModelsUnavailable } from '@gantry/stores'
import type { Document } from 'mongodb'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeServer, HELLO } from '../fixtures/fake-server.ts'
import { mongoReadModels } from '../read-models/read-models.ts'
import { checkReadModels } from './check.ts'
import { MongoRefused } from './settings.ts'

let server: Awaited<ReturnType<typeof fakeServer>> | undefined
afterEach(() => server?.close())

/** A server that answers as usual except for these commands. */
const serverWith = async (answers: Record<string, Document>) => {
  const usual = { hello: HELLO, buildInfo: { ok: 1, version: '7.0.14' }, update: { ok: 1, n: 1 } }
  server = await fakeServer(command => ({ ...usual, ...answers })[command as 'hello'] ?? { ok: 1 })
  return server.url
}

describe('the check of READ_MODEL_URL', () => {
  it('returns the name and version of a server that accepts writes', async () => {
    expect(await checkReadModels({ url: await serverWith({}) })).toBe('MongoDB 7.0.14')
  })

  it.each([
    [{ ferretdbVersion: 'v1.24.2' }, 'FerretDB v1.24.2, compatible with MongoDB 7.0.42'],
    [
      { ferretdb: { version: 'v2.7.0', package: 'docker' } },
      'FerretDB v2.7.0, compatible with MongoDB 7.0.42',
    ],
    [{ ferretdb: {} }, 'FerretDB 2, compatible with MongoDB 7.0.42'],
  ])('recognizes FerretDB by %j', async (extension, expected) => {
    const buildInfo = { ok: 1, version: '7.0.42', ...extension }
    expect(await checkReadModels({ url: await serverWith({ buildInfo }) })).toBe(expected)
  })

  it.each([
    [9, 'is MongoDB 4.4.29; MongoDB 5.0 or newer is required'],
    [6, 'is a server that is too old; MongoDB 5.0 or newer is required'],
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
      'a user without write permission',
      { update: { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on gantry' } },
      'the user lacks permission to read and write the database',
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
      'the replica set has no primary; is it initiated, and is a majority of it up?',
    ],
    [
      'a server that fails',
      { update: { ok: 0, code: 14031, errmsg: 'disk full' } },
      'the server answered: disk full',
    ],
  ]
  it.each(unavailable)('names the setting and the reason for %s', async (_, answers, words) => {
    const url = await serverWith(answers)
    const refused = checkReadModels({ url })
    await expect(refused).rejects.toThrow(ReadModelsUnavailable)
    await expect(refused).rejects.toThrow(`read models unavailable: READ_MODEL_URL ${url}: ${words}`)
  })

  it('fails within seconds while the server is down, in the check and in every call', async () => {
    const url = await serverWith({})
    await server?.close()
    const words = `read models unavailable: READ_MODEL_URL ${url}: the connection was refused; is a MongoDB server`
    await expect(checkReadModels({ url })).rejects.toThrow(words)
    const readModels = mongoReadModels({ url })
    const pings = await Promise.allSettled([readModels.ping(), readModels.ping()])
    for (const ping of pings) expect(String((ping as PromiseRejectedResult).reason)).toContain(words)
    await readModels.close()
    // Without a limit of its own, the driver waits for 30 s in each call.
  })

  it('reports a host that does not exist', async () => {
    await expect(checkReadModels({ url: 'mongodb://no-such-host.invalid/gantry' })).rejects.toThrow(
      /READ_MODEL_URL mongodb:\/\/no-such-host.invalid:27017\/gantry: (there is no such host|the name of the host)/,
    )
  })

  it.each([
    ['', 'is not a MongoDB URL'],
    ['localhost:27017', 'is not a MongoDB URL'],
    ['postgres://localhost/gantry', 'is not a MongoDB URL'],
    ['mongodb://', 'cannot be used'],
    ['mongodb://user:secret@host:port/gantry', 'cannot be used'],
    ['mongodb://user:secret@host/gantry?no-option', 'cannot be used'],
    ['mongodb+srv://user:secret@host:1/gantry', 'cannot be used'],
  ])('refuses %j with a message without secrets', url => {
    const open = () => mongoReadModels({ url })
    expect(open).toThrow(MongoRefused)
    expect(open).toThrow(/^READ_MODEL_URL .*: it must look like mongodb:\/\/host:27017\/gantry$/)
    expect(open).not.toThrow('secret')
  })

  it('names another setting when the URL is from that', async () => {
    expect(() => mongoReadModels({ url: 'x', setting: 'BLOB_URL' })).toThrow(/^BLOB_URL is not a MongoDB URL/)
  })
})
