import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { RELEASE_HEADER } from '@gantry/service-kit'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Release } from '../src/cluster.ts'
import { imageForm } from './support/load.ts'
import { lackingHistory, makePreviousRelease } from './support/previous-release.ts'
import { startTopology, type Topology } from './support/topology.ts'

/** Minimum number of rounds of every client after each replacement. */
const ROUNDS = 5
const ROUNDS_MS = 60_000
const REST_MS = 20

interface Clients {
  /** Unexpected responses, as text. */
  readonly failures: readonly string[]
  /** Number of completed rounds by client. */
  readonly rounds: ReadonlyMap<string, number>
  stop(): Promise<void>
}

/**
 * Clients that repeatedly send requests which cause internal requests: uploads of images (media to catalog), changes of
 * users (identity to catalog), and requests with a new login (gateway to identity). They send to gateways that are ready,
 * as a load balancer does.
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
  'no request fails while processes of the previous and of this release run together, and during a rollback'

test.skipIf(lacking)(TITLE, { meta: { skipped: lacking ?? '' } }, async () => {
  const previous = await makePreviousRelease()
  onTestFinished(previous.remove)
  const topology = await startTopology({
    releaseOf: () => previous,
    // Internal requests do not depend on the kind of the backing stores.
    settings: folder => ({
      EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
      READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
      MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
    }),
    environment: { SHUTDOWN_DELAY: '2s' },
  })
  onTestFinished(() => topology.stop())
  const leaving = new Set<string>()
  const clients = startClients(topology, url => !leaving.has(url))
  onTestFinished(() => clients.stop())

  /** Replaces processes with those of a release, then waits until every client has completed ROUNDS rounds. */
  const replace = async (names: readonly string[], release?: Release) => {
    const replaced = names.map(async name => {
      const url = topology.urls[name === 'gateway-1' ? 0 : name === 'gateway-2' ? 1 : 2] ?? ''
      leaving.add(url)
      await topology.replace(name, release)
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
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).headers.has(RELEASE_HEADER)
  }

  const asked = ['catalog', 'identity']
  const asking = ['gateway', 'media', 'notifier']
  /** Replaces the first process of each service, then the second. */
  const roll = async (services: readonly string[], release?: Release) => {
    for (const number of [1, 2]) {
      await replace(
        services.map(service => `${service}-${number}`),
        release,
      )
    }
    for (const service of services.filter(service => service !== 'gateway'))
      expect([service, await isOfThisRelease(service)]).toEqual([service, release === undefined])
  }

  await replace([])
  // First only the services that receive internal requests are of this release, at the end only those that send them.
  await roll(asked)
  await roll(asking)
  await roll(asked, previous)
  const counts = [...clients.rounds].map(([client, count]) => `${client} ${count}`)
  process.stderr.write(`rounds of requests: ${counts.join(', ')}\n`)
})
