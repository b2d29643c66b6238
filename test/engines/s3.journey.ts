import { once } from 'node:events'
import { lutimes, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { destinationOf } from '@gantry/identity'
import { contentOf, type S3BlobStore, s3BlobStore, s3Bucket } from '@gantry/s3'
import { ReadModelsUnavailable } from '@gantry/stores'
import { blobStoreContract } from '@gantry/stores/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Engine } from './src/engine.ts'
import { findS3, S3_CREDENTIALS } from './src/find-s3.ts'
import { onPath } from './src/program.ts'
import { ranOn } from './src/ran-on.ts'

const region = 'us-east-1'
const settingsOf = (endpoint: string, { accessKeyId, secretAccessKey } = S3_CREDENTIALS) => ({
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
})
const found = await findS3()
ranOn(found.found ? found.description : 'a server of the test')
const skipped = found.found ? undefined : `there is no S3 server: ${found.how}`

test('S3 is used when it is available', async () => {
  const tools = await Promise.all(['java', 'mvn'].map(onPath))
  if (process.env.CI && tools.every(path => path !== undefined)) expect(skipped).toBeUndefined()
})

let server: Engine
let client: S3Client
beforeAll(async () => {
  if (!found.found) return
  server = await found.start()
  client = new S3Client({ endpoint: server.url, forcePathStyle: true, region, credentials: S3_CREDENTIALS })
  await client.send(new CreateBucketCommand({ Bucket: 'audit' }))
  await client.send(new CreateBucketCommand({ Bucket: 'images' }))
})
afterAll(async () => {
  client?.destroy()
  await server?.stop()
})

describe.skipIf(skipped)('S3', { meta: { skipped } }, () => {
  const location = { bucket: 'images', prefix: 'of/gantry' }
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drafts-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const open = (options: Partial<Parameters<typeof s3BlobStore>[0]> = {}): S3BlobStore =>
    s3BlobStore({ ...location, settings: settingsOf(server.url), folder, ...options })

  const keysOf = async (blobs: S3BlobStore) => {
    const keys: string[] = []
    for await (const key of blobs.keys()) keys.push(key)
    return keys
  }

  blobStoreContract('S3', async () => {
    const blobs = open()
    return { blobs, another: async () => open(), close: () => blobs.close() }
  })

  test('stores blobs as objects with the prefix, and lists no others', async () => {
    const blobs = open({ prefix: 'alone' })
    await open({ prefix: 'alone/elsewhere' }).put('other', Buffer.from('other'))
    await blobs.put('logo', Buffer.from('png'))
    expect(await keysOf(blobs)).toEqual(['logo'])
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket: 'images', Prefix: 'alone/' }),
    )
    expect(Contents.map(({ Key }) => Key)).toEqual(['alone/elsewhere/other', 'alone/logo'])
  })

  test('drafts leave no files, and those of a process that died are deleted after an hour', async () => {
    const [left, recent, another, link] = ['left', 'recent', 'another', 'link'].map(name =>
      join(folder, name === 'another' ? name : `gantry-draft-${name}`),
    ) as [string, string, string, string]
    for (const file of [left, recent, another]) await writeFile(file, 'png')
    await symlink(another, link)
    const longAgo = new Date(Date.now() - 3_660_000)
    for (const file of [left, another, link]) await lutimes(file, longAgo, longAgo)
    const blobs = open()
    await blobs.removeAbandoned()
    const [committed, discarded] = [await blobs.draft(), await blobs.draft()]
    await committed.write(Buffer.from('png'))
    await committed.commit('drafted')
    await discarded.discard()
    const kept = ['another', 'gantry-draft-link', 'gantry-draft-recent']
    expect((await readdir(folder)).toSorted()).toEqual(kept)
    for (const name of kept) await rm(join(folder, name))
  })

  test('a draft that cannot be read fails its commit alone, and stores nothing', async () => {
    const warn = vi.spyOn(console, 'warn')
    onTestFinished(() => warn.mockRestore())
    const blobs = open()
    const draft = await blobs.draft()
    await draft.write(Buffer.from('png'))
    for (const name of await readdir(folder)) await rm(join(folder, name))
    await expect(draft.commit('unreadable')).rejects.toThrow('ENOENT')

    const pieces = async function* () {
      yield Buffer.from('p')
      throw new Error('EIO: the disk fails')
    }
    const bucket = s3Bucket({ ...location, settings: settingsOf(server.url), timeoutMs: 15_000 })
    onTestFinished(() => bucket.close())
    const content = { ...contentOf(Buffer.from('png')), body: Readable.from(pieces()) }
    await expect(bucket.put('unreadable', content)).rejects.toThrow('EIO: the disk fails')
    expect(await blobs.get('unreadable')).toBeUndefined()
    expect(warn).not.toHaveBeenCalled()
  })

  test('a bucket that cannot be used is named with the reason, without a secret', async () => {
    await expect(open().ping()).resolves.toBeUndefined()
    await expect(open({ bucket: 'missing' }).ping()).rejects.toThrow(
      /^BLOB_URL s3:\/\/missing\/of\/gantry: NoSuchBucket: /,
    )
    const secretAccessKey = 'a wrong secret'
    const settings = settingsOf(server.url, { ...S3_CREDENTIALS, secretAccessKey })
    const refused = await open({ settings })
      .get('logo')
      .catch(error => error)
    expect(refused.message).toMatch(/^BLOB_URL s3:\/\/images\/of\/gantry: SignatureDoesNotMatch: /)
    expect(refused).not.toBeInstanceOf(ReadModelsUnavailable)
    expect(inspect(refused, { depth: 10 })).not.toContain(secretAccessKey)
  })

  test('half of a key is refused with the names of the settings', () => {
    const settings = { ...settingsOf(server.url), AWS_SECRET_ACCESS_KEY: undefined }
    expect(() => open({ settings })).toThrow('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: set both')
  })

  test('calls fail as unavailable while the store fails, stops in an answer, or refuses connections', async () => {
    const answers = [
      (response: ServerResponse) => response.destroy(),
      (response: ServerResponse) => response.writeHead(503).end(),
      (response: ServerResponse) => response.writeHead(200, { 'content-length': 9 }).write('half'),
    ]
    const failing = createServer((_, response) => answers.at(0)?.(response)).listen(0, '127.0.0.1')
    onTestFinished(() => void failing.close())
    await once(failing, 'listening')
    const { port } = failing.address() as AddressInfo
    const blobs = open({ settings: settingsOf(`http://127.0.0.1:${port}`), timeoutMs: 300 })
    for (; answers.length > 0; answers.shift())
      await expect(blobs.get('logo')).rejects.toThrow(ReadModelsUnavailable)
    failing.close()
    failing.closeAllConnections()
    const draft = await blobs.draft()
    await draft.write(Buffer.from('png'))
    const put = () => blobs.put('logo', Buffer.from('png'))
    for (const call of [put, () => draft.commit('logo'), () => keysOf(blobs)])
      await expect(call()).rejects.toThrow(ReadModelsUnavailable)
    await draft.discard()
    await expect(blobs.ping()).rejects.toThrow('BLOB_URL s3://images/of/gantry: connect ECONNREFUSED')
  })
})

test('the requests of one call share its time', async () => {
  // Each of the two requests is answered within the time; both together are not.
  const slow = createServer((request, response) => {
    const answer = () => response.writeHead(request.resume().method === 'HEAD' ? 404 : 200).end()
    setTimeout(answer, 600)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => slow.closeAllConnections())
  onTestFinished(() => void slow.close())
  await once(slow, 'listening')
  const { port } = slow.address() as AddressInfo
  const settings = settingsOf(`http://127.0.0.1:${port}`)
  const blobs = s3BlobStore({ bucket: 'images', prefix: '', settings, timeoutMs: 1_000 })
  await expect(blobs.put('logo', Buffer.from('png'))).rejects.toThrow(ReadModelsUnavailable)
})

describe.skipIf(skipped)('the audit log is pushed to S3', { meta: { skipped } }, () => {
  const to = (url: string, credentials = S3_CREDENTIALS) =>
    destinationOf({ url: new URL(url), token: undefined, s3: settingsOf(server.url, credentials) })
  const { signal } = new AbortController()

  test('with a prefix, and a repeated object replaces the first one', async () => {
    const destination = to('s3://audit/logs of/production/')
    await destination.put({ name: '1-2', body: Buffer.from('first\n') }, signal)
    await destination.put({ name: '1-2', body: Buffer.from('again\n') }, signal)
    destination.close()
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'audit' }))
    expect(Contents.map(({ Key }) => Key)).toEqual(['logs of/production/audit-1-2.ndjson'])
    const stored = await client.send(new GetObjectCommand({ Bucket: 'audit', Key: Contents[0]?.Key }))
    expect(stored.ContentType).toBe('application/x-ndjson')
    expect(await stored.Body?.transformToString()).toBe('again\n')
  })

  test('a refusal names the bucket problem, and no secret', async () => {
    const missing = to('s3://missing').put({ name: '1-2', body: Buffer.from('x') }, signal)
    await expect(missing).rejects.toThrow(/S3 did not store the object: NoSuchBucket/)
    const wrong = { ...S3_CREDENTIALS, secretAccessKey: 'a wrong secret' }
    const refused = to('s3://audit', wrong).put({ name: '1-2', body: Buffer.from('x') }, signal)
    await expect(refused).rejects.toThrow(/SignatureDoesNotMatch/)
    await expect(refused).rejects.not.toThrow(/a wrong secret/)
  })
})
