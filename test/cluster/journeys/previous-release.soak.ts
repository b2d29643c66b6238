import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { imageForm } from './support/load.ts'
import { lackingHistory, makePreviousRelease } from './support/previous-release.ts'
import { startTopology, type Topology } from './support/topology.ts'

/** Rounds of requests of every client while the replaced processes run beside the others. */
const ROUNDS = 5
const ROUNDS_MS = 60_000
const REST_MS = 20
/** The gateways of the previous release derive from it what they sign with. */
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

interface Clients {
  /** Answers that were not the expected ones. */
  readonly failures: readonly string[]
  /** How often each has done all of its requests. */
  readonly rounds: ReadonlyMap<string, number>
  stop(): Promise<void>
}

/**
 * Clients of which each sends, again and again, requests that make processes ask each other: uploads of images (media asks
 * catalog), changes of users (identity tells catalog), and requests with a login that no gateway knows (the gateway asks
 * identity). They send to gateways that are ready, as a load balancer does.
 */
function startClients(topology: Topology, isReady: (url: string) => boolean): Clients {
  const { administrator } = topology
  const failures: string[] = []
  const rounds = new Map<string, number>()
  let stopped = false
  let turn = 0

  const send = async (
    expected: number,
    method: string,
    path: string,
    body?: object | FormData,
    as?: string,
  ) => {
    const urls = topology.urls.filter(isReady)
    const isForm = body instanceof FormData
    const answer = await fetch(`${urls[turn++ % urls.length]}${path}`, {
      method,
      headers: {
        authorization: as ?? topology.authorization,
        ...(body && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (answer.status !== expected)
      throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`)
    return { headers: answer.headers, record: () => JSON.parse(text) as { id: string } }
  }
  const uploads = async () => {
    const name = randomUUID()
    const api = { name, displayName: name, status: 'ACTIVE', tags: [] }
    const { id } = (await send(201, 'POST', '/apis', api)).record()
    await send(200, 'PUT', `/apis/${id}/image`, imageForm())
    expect((await send(200, 'GET', `/apis/${id}`)).record()).toMatchObject({ name, hasImage: true })
  }
  const users = async () => {
    const username = `user-${randomUUID()}`
    const fields = { username, displayName: username, email: `${username}@example.com`, role: 'ADMIN' }
    await send(201, 'POST', '/users', { ...fields, password: 'correct horse battery' })
    await send(200, 'GET', '/users?size=1')
  }
  const logins = async () => {
    const { headers } = await send(200, 'POST', '/login', administrator)
    await send(200, 'GET', '/apis?size=1', undefined, headers.get('authorization') ?? '')
  }

  const clients = Object.entries({ uploads, users, logins }).map(async ([name, round]) => {
    while (!stopped) {
      await round().catch(error => failures.push(`${name}: ${error.message}`))
      rounds.set(name, (rounds.get(name) ?? 0) + 1)
      await setTimeout(REST_MS)
    }
  })
  return {
    failures,
    rounds,
    async stop() {
      stopped = true
      await Promise.all(clients)
    },
  }
}

const lacking = await lackingHistory()
const TITLE =
  'processes of the previous release and of this one side by side, and a rollback, refuse no request'

test.skipIf(lacking)(TITLE, { meta: { skipped: lacking ?? '' } }, async () => {
  const previous = await makePreviousRelease()
  onTestFinished(previous.remove)
  const topology = await startTopology({
    root: previous.root,
    // How processes find and believe each other does not depend on the engines.
    settings: folder => ({
      ENCRYPTION_KEY,
      EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
      READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
      MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
    }),
    environment: { SHUTDOWN_DELAY: '2s' },
    ownEnvironment: name => (name.startsWith('gateway') ? { ENCRYPTION_KEY } : {}),
  })
  onTestFinished(() => topology.stop())
  const leaving = new Set<string>()
  const clients = startClients(topology, url => !leaving.has(url))
  onTestFinished(() => clients.stop())

  /** Replaces processes by a release, and waits until all clients have done their requests while it runs. */
  const replace = async (names: readonly string[], root?: string) => {
    const replaced = names.map(async name => {
      const url = topology.urls[name === 'gateway-1' ? 0 : name === 'gateway-2' ? 1 : 2] ?? ''
      leaving.add(url)
      await topology.replace(name, root)
      leaving.delete(url)
    })
    await Promise.all(replaced)
    const before = new Map(clients.rounds)
    await vi.waitFor(
      () => {
        for (const client of ['uploads', 'users', 'logins'])
          expect(clients.rounds.get(client)).toBeGreaterThan((before.get(client) ?? 0) + ROUNDS)
      },
      { timeout: ROUNDS_MS, interval: 50 },
    )
    expect(clients.failures).toEqual([])
  }
  const isOfThisRelease = async (service: string) => {
    const { port } = topology.processes.find(({ name }) => name === `${service}-1`) ?? {}
    return (await fetch(`http://127.0.0.1:${port}/metrics`)).status === 404
  }

  const asked = ['catalog', 'identity']
  const asking = ['gateway', 'media', 'notifier']
  /** Both of each, one after the other. */
  const roll = async (services: readonly string[], root?: string) => {
    for (const number of [1, 2]) {
      await replace(
        services.map(service => `${service}-${number}`),
        root,
      )
    }
    for (const service of services.filter(service => service !== 'gateway'))
      expect([service, await isOfThisRelease(service)]).toEqual([service, root === undefined])
  }

  await replace([])
  // All that are asked are of this release, all that ask of the previous one; then the other way round.
  await roll(asked)
  await roll(asking)
  await roll(asked, previous.root)
  const counts = [...clients.rounds].map(([client, count]) => `${client} ${count}`)
  process.stderr.write(`rounds of requests: ${counts.join(', ')}\n`)
})
