import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTopology, type Topology } from './support/topology.ts'

/** Number of pairs of a write and a read of its result. docs/performance.md has the result for 10,000. */
const PAIRS = Number(process.env.PAIRS ?? 200)
const WRITERS = 5
/** GIF89a of 1 x 1 pixel. */
const IMAGE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

let topology: Topology
beforeAll(async () => {
  topology = await startTopology()
})
afterAll(() => topology.stop())

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any resource
  body: any
}

test(`${PAIRS} writes are each visible to the next connection, through any gateway and replica`, async () => {
  const { authorization, urls } = topology
  let connections = 0
  /** Sends a request on a new connection, through the gateways in turn. */
  const ask = (method: string, path: string, body?: Buffer | object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const type = Buffer.isBuffer(body) ? 'multipart/form-data; boundary=b' : 'application/json'
      const outgoing = request(
        `${urls[connections++ % urls.length]}${path}`,
        {
          method,
          agent: new Agent({ keepAlive: false }),
          headers: { authorization, ...(body && { 'content-type': type }) },
        },
        incoming => {
          const chunks: Buffer[] = []
          incoming.on('data', chunk => chunks.push(chunk))
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            resolve({ status: incoming.statusCode ?? 0, body: text === '' ? undefined : JSON.parse(text) })
          })
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body && !Buffer.isBuffer(body) ? JSON.stringify(body) : body)
    })
  const form = Buffer.concat([
    Buffer.from(
      '--b\r\ncontent-disposition: form-data; name="file"; filename="i.gif"\r\ncontent-type: image/gif\r\n\r\n',
    ),
    IMAGE,
    Buffer.from('\r\n--b--\r\n'),
  ])

  const stale: string[] = []
  let pairs = 0
  const pair = async (what: string, write: Answer, expected: number, read: () => Promise<boolean>) => {
    if (write.status !== expected) throw new Error(`${what}: ${write.status} ${JSON.stringify(write.body)}`)
    pairs++
    if (!(await read())) stale.push(what)
  }

  const writer = async (number: number) => {
    const tag = `writer-${number}`
    let live = 0
    const listed = async () => (await ask('GET', `/apis?tags=${tag}&size=1`)).body.totalElements === live
    for (let n = 0; pairs < PAIRS; n++) {
      const api = { name: `pair-${number}-${n}`, displayName: 'one', status: 'ACTIVE', tags: [tag] }
      const created = await ask('POST', '/apis', api)
      live++
      await pair('created, counted', created, 201, listed)
      const path = `/apis/${created.body.id}`
      const updated = await ask('PUT', path, { ...api, displayName: 'two' })
      await pair('updated', updated, 200, async () => (await ask('GET', path)).body.displayName === 'two')
      const version = { name: '1.0.0', displayName: 'x', status: 'ACTIVE' }
      await pair('version, listed', await ask('POST', `${path}/versions`, version), 201, async () => {
        return (await ask('GET', `${path}/versions`)).body.totalElements === 1
      })
      await pair('image, hasImage', await ask('PUT', `${path}/image`, form), 200, async () => {
        return (await ask('GET', path)).body.hasImage === true
      })
      await pair('image deleted, hasImage', await ask('DELETE', `${path}/image`), 204, async () => {
        return (await ask('GET', path)).body.hasImage === false
      })
      if (n % 2 === 1) {
        const deleted = await ask('DELETE', path)
        live--
        await pair('deleted, counted', deleted, 204, listed)
      }
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)))
  expect(pairs).toBeGreaterThanOrEqual(PAIRS)
  expect(stale).toEqual([])
}, 1_800_000)
