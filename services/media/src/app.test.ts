import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type PublicEvent, requests, subjects } from '@gantry/contracts'
import { folderBlobStore } from '@gantry/embedded'
import type { Message } from '@gantry/messaging'
import type { Service } from '@gantry/service-runtime'
import { type Host, type HostOptions, hostService } from '@gantry/service-runtime/testing'
import type { BlobStore } from '@gantry/stores'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { mediaService } from './app.ts'
import { documentSettings } from './settings.ts'
import { gif, jpeg, png } from './testing/samples.ts'

const API = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const OTHER = '6c2a2d0f-7e1a-4d69-8b54-0e7c9d3b8f21'
const logo = png(3, 2)

let host: Host<Service>
let blobs: BlobStore
let clock = '2026-11-21T10:00:00.000Z'

afterEach(async () => {
  clock = '2026-11-21T10:00:00.000Z'
  await host.close()
})

/** A catalog with these APIs, which collects the messages that media sends it before a response. */
const catalog = (...apis: string[]) => {
  const { peers } = host.dependencies.process
  const existing = new Set(apis)
  const received: Message[] = []
  const silence = [
    peers.answer(requests.apiExists, async ({ api }) => ({ exists: existing.has(api) })),
    peers.answer(requests.react('catalog'), async message => {
      received.push(message)
      return null
    }),
  ]
  return {
    received,
    delete: (api: string) => existing.delete(api),
    leave() {
      for (const stop of silence) stop()
    },
  }
}

const open = async (options: HostOptions = {}) => {
  host = await hostService(
    (dependencies, folder) => {
      blobs = folderBlobStore({ path: join(folder, 'images') })
      return mediaService({ ...dependencies, blobs }, documentSettings.parse({}))
    },
    { now: () => new Date(clock), ...options },
  )
}

const path = (api: string) => `/apis/${api}/image`
const upload = async (api: string, file: Buffer) => {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(file)], { type: 'text/plain' }), 'anything.txt')
  const request = new Request('http://localhost', { method: 'PUT', body: form })
  const answer = await host.app.inject({
    method: 'PUT',
    url: path(api),
    headers: Object.fromEntries(request.headers),
    payload: Buffer.from(await request.arrayBuffer()),
  })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}
const call = (method: 'GET' | 'HEAD' | 'DELETE', api: string, headers: Record<string, string> = {}) =>
  host.app.inject({ method, url: path(api), headers })
const log = async (api: string) =>
  (await host.dependencies.eventStore.readStream(`image-${api}`)).map(({ type }) => type)

const apiDeleted = (api: string): Message => {
  const event: PublicEvent = {
    id: '33333333-3333-4333-8333-333333333333',
    type: 'API_DELETED',
    source: 'catalog',
    subject: api,
    revision: 4,
    time: '2026-11-21T10:00:00.000Z',
    data: {},
    actor: { id: null, name: 'grace' },
    requestId: 'r-1',
  }
  return { id: event.id, subject: subjects.events('catalog', 'API_DELETED'), data: event as never }
}

describe('an upload', () => {
  test('is recorded only if its bytes are stored', async () => {
    await open({ start: false })
    catalog(API)
    vi.spyOn(blobs, 'put').mockRejectedValueOnce(new Error('disk full'))
    expect((await upload(API, logo)).status).toBe(500)
    expect(await log(API)).toEqual([])
  })

  test('gets 503 with Retry-After while catalog is unavailable, and images can still be read', async () => {
    await open({ start: false })
    const { leave } = catalog(API)
    await upload(API, logo)
    leave()
    const answer = await upload(API, gif)
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2'])
    expect((await call('GET', API)).statusCode).toBe(200)
  })
})

describe('catalog', () => {
  test('is notified again when the same image is uploaded again, since the first notification may be lost', async () => {
    await open({ start: false })
    const { received } = catalog(API)
    await upload(API, logo)
    await upload(API, logo)
    expect(received).toHaveLength(2)
    expect(received[1]).toEqual(received[0])
  })

  test('gets every change over the bus, also if it was not notified', async () => {
    await open()
    const { bus, process } = host.dependencies
    const stop = process.peers.answer(requests.apiExists, async () => ({ exists: true }))
    expect((await upload(API, logo)).status).toBe(200)
    expect((await call('DELETE', API)).statusCode).toBe(204)
    stop()
    const published: string[] = []
    const subscription = {
      subjects: ['events.media.>'],
      after: 0,
      live: true,
      signal: AbortSignal.timeout(60_000),
    }
    for await (const { subject } of bus.read(subscription)) {
      if (published.push(subject) === 2) break
    }
    expect(published).toEqual(['events.media.API_IMAGE_UPDATED', 'events.media.API_IMAGE_DELETED'])
  })
})

describe('the deletion of an API', () => {
  test('discards its image also if it comes over the bus only, and after an invalid message', async () => {
    await open()
    const known = catalog(API, OTHER)
    await upload(API, logo)
    await upload(OTHER, logo)
    known.delete(API)
    await host.dependencies.bus.publish([
      { ...apiDeleted(API), id: '44444444-4444-4444-8444-444444444444', data: { subject: 7 } },
      apiDeleted(API),
    ])
    await vi.waitFor(async () => expect((await call('GET', API)).statusCode).toBe(404))
    expect((await call('GET', OTHER)).statusCode).toBe(200)
  })
})

describe('bytes', () => {
  const stored = async () => {
    const keys: string[] = []
    for await (const key of blobs.keys()) keys.push(key)
    return keys.toSorted()
  }
  const at = async (time: string) => {
    await host.restart(() => {
      clock = `2026-11-21T${time}:00.000Z`
    })
  }
  const sha256 = (file: Buffer) => createHash('sha256').update(file).digest('hex')

  test('that no image refers to are removed by two sweeps at least an hour apart, and no others', async () => {
    await open()
    catalog(API, OTHER)
    await upload(API, logo)
    await upload(API, gif)
    await upload(OTHER, jpeg)
    // Bytes that two APIs share stay when the image of one is deleted.
    await upload(OTHER, gif)
    await call('DELETE', OTHER)
    expect(await stored()).toHaveLength(3)

    await at('11:30')
    const aside = [`aside-${sha256(logo)}`, `aside-${sha256(jpeg)}`].toSorted()
    await vi.waitFor(async () => expect(await stored()).toEqual([sha256(gif), ...aside].toSorted()))
    await at('11:45')
    const { leases } = host.dependencies.readModels
    await vi.waitFor(async () => {
      const free = await leases.acquire('media.sweeper', 'another', 5_000)
      if (free) await leases.release(free)
      expect(free).toBeUndefined()
    }, 10_000)
    await at('12:00')
    expect(await host.dependencies.readModels.checkpoints.get('media.sweeper')).toBe(
      '2026-11-21T11:30:00.000Z',
    )
    await at('12:30')
    await vi.waitFor(async () => expect(await stored()).toEqual([sha256(gif)]))
    expect((await call('GET', API)).rawPayload.equals(gif)).toBe(true)
  })
})
