import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { destinationOf } from '@gantry/identity'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from './src/engine.ts'
import { findS3, S3_CREDENTIALS } from './src/find-s3.ts'
import { onPath } from './src/program.ts'

const region = 'us-east-1'
const settingsOf = (endpoint: string, { accessKeyId, secretAccessKey } = S3_CREDENTIALS) => ({
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
})
const found = await findS3()
const skipped = found.found ? undefined : `there is no S3 server: ${found.how}`

test('S3 is used when it is available', async () => {
  const tools = await Promise.all(['java', 'mvn'].map(onPath))
  if (process.env.CI && tools.every(path => path !== undefined)) expect(skipped).toBeUndefined()
})

describe.skipIf(skipped)('the audit log is pushed to S3', { meta: { skipped } }, () => {
  let server: Engine
  let client: S3Client
  beforeAll(async () => {
    if (!found.found) return
    server = await found.start()
    client = new S3Client({ endpoint: server.url, forcePathStyle: true, region, credentials: S3_CREDENTIALS })
    await client.send(new CreateBucketCommand({ Bucket: 'audit' }))
  })
  afterAll(async () => {
    client.destroy()
    await server.stop()
  })

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
