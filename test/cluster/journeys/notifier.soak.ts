import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  createWebhook,
  type DeliveryRecord,
  listWebhookDeliveries,
  type Principal,
  SCOPES,
} from '@gantry/contracts'
import { findNats } from '@gantry/engines'
import { openBus } from '@gantry/hosting/bus'
import type { Bus } from '@gantry/messaging'
import { derivedPrincipalKey, passedPrincipals } from '@gantry/service-kit'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-kit/testing'
import fastify from 'fastify'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type Arrival, flakyReceiver } from '../src/flaky-receiver.ts'
import { type Replica, startReplica } from '../src/replica.ts'

/** docs/performance.md has the result for 10,000: EVENTS=10000 npm run soak */
const EVENTS = Number(process.env.EVENTS ?? 600)
const KILL_EVERY_MS = 4_000
const TIMEOUT_MS = 2_000
const DEADLINE_MS = 120_000 + EVENTS * 90
/** Less than the interval between attempts of a delivery, and more than the clock difference of processes on one host. */
const SLACK_MS = 100
const MAIN = join(import.meta.dirname, '../../../services/notifier/src/main.ts')

const eventId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

async function publishEvents(bus: Bus) {
  const messages = Array.from({ length: EVENTS }, (_, number) => ({
    id: eventId(number),
    subject: 'events.catalog.API_CREATED',
    data: {
      id: eventId(number),
      type: 'API_CREATED',
      source: 'catalog',
      subject: eventId(number),
      revision: 0,
      time: new Date().toISOString(),
      data: { number },
      actor: { id: null, name: 'story' },
      requestId: 'story',
    },
  }))
  for (let from = 0; from < EVENTS; from += 100) await bus.publish(messages.slice(from, from + 100))
}

/** Sends a request to the replicas in turn until one answers. */
function clientOf(replicas: readonly Replica[], principal: string) {
  return async <Body>(path: string, body?: object): Promise<Body> => {
    for (let turn = 0; ; turn++) {
      const { port } = replicas[turn % replicas.length] ?? { port: 0 }
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { 'x-gantry-principal': principal, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      }).catch(() => undefined)
      if (answer?.ok) return (await answer.json()) as Body
      if (answer && answer.status < 500) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      await setTimeout(100)
    }
  }
}

interface Page {
  content: DeliveryRecord[]
  totalElements: number
  last: boolean
}

/** Possible errors of an attempt by the treatment of the receiver. The sender may be killed at any time in between. */
const OUTCOMES: Readonly<Record<Arrival['treatment'], (string | null)[]>> = {
  'answers 200': [null, 'lost', 'interrupted', 'timeout'],
  'answers 500': ['http-status', 'lost', 'interrupted', 'timeout'],
  drops: ['closed-early', 'lost', 'interrupted', 'timeout'],
  'loses the answer': ['closed-early', 'lost', 'interrupted', 'timeout'],
  'is slow': ['timeout', 'lost', 'interrupted'],
}
/** Errors that leave open whether the event arrived. */
const UNKNOWN = ['closed-early', 'timeout', 'lost', 'interrupted']
/** Treatments after which the receiver has the event. */
const TAKEN: Arrival['treatment'][] = ['answers 200', 'loses the answer', 'is slow']

/**
 * A time at which the attempt that sent a request had begun, in milliseconds since 1970. The receiver may notice a request
 * late, when the next attempt has begun; the header has the second in which the request was signed.
 */
const begunBy = ({ at, headers }: Arrival) => Math.min(at, (Number(headers['webhook-timestamp']) + 1) * 1_000)

/** Compares a delivery record with the requests that arrived for it. @returns how often the event arrived */
function compare(record: DeliveryRecord, arrivals: readonly Arrival[]): number {
  const about = JSON.stringify({ record, arrivals }, null, 1)
  expect(record.status, about).toBe('SUCCESS')
  expect(record.attemptLog.map(({ number }) => number)).toEqual(
    record.attemptLog.map((_, index) => index + 1),
  )
  const attempts = record.attemptLog.map(attempt => ({ attempt, arrived: [] as Arrival[] }))
  for (const arrival of arrivals) {
    const at = begunBy(arrival)
    const made = attempts.findLast(({ attempt }) => Date.parse(attempt.startedAt) - SLACK_MS <= at)
    expect(made, about).toBeDefined()
    made?.arrived.push(arrival)
  }
  for (const { attempt, arrived } of attempts) {
    // Each attempt sends one request, and an answered request has arrived.
    expect(arrived.length, about).toBeLessThanOrEqual(1)
    if (attempt.responseStatus !== null) expect(arrived, about).toHaveLength(1)
    for (const { treatment } of arrived) expect(OUTCOMES[treatment], about).toContain(attempt.error)
  }
  const taken = attempts.filter(({ arrived }) => arrived.some(({ treatment }) => TAKEN.includes(treatment)))
  expect(taken.length, about).toBeGreaterThan(0)
  // A delivered event is sent again only if its response was lost.
  for (const { attempt } of taken.slice(0, -1)) expect(UNKNOWN, about).toContain(attempt.error)
  return taken.length
}

test('with kill -9 every few seconds and a flaky receiver every event arrives, and the records agree', {
  timeout: DEADLINE_MS + 330_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-notifier-'))
  const logFolder = join(folder, 'logs')
  await mkdir(logFolder)
  const found = await findNats()
  if (!found.found) console.log(`NATS is not available, using a SQLite file: ${found.how}`)
  const nats = found.found ? await found.start() : undefined
  const MESSAGING_URL = nats?.url ?? `sqlite:${join(folder, 'messages.db')}`
  const encryptionKey = randomBytes(32)
  const receiver = await flakyReceiver(TIMEOUT_MS + 1_000, () => secret)
  const { store: bus } = openBus({ MESSAGING_URL }, { name: 'story', log: pino({ level: 'silent' }) })
  const replicas: Replica[] = []
  let kills = 0
  let secret = ''
  try {
    for (const name of ['notifier-1', 'notifier-2']) {
      const port = await freePort()
      replicas.push(
        startReplica({
          name,
          program: { args: ['--max-semi-space-size=32', MAIN], cwd: folder },
          port,
          environment: {
            ...PROGRAM_ENVIRONMENT,
            NODE_ENV: 'production',
            PORT: String(port),
            INTERNAL_PORT: '0',
            HOST: '127.0.0.1',
            EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
            READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
            MESSAGING_URL,
            ENCRYPTION_KEY: encryptionKey.toString('base64'),
            WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
            WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
            WEBHOOK_RETRY_SCHEDULE: '500ms,1s,2s,4s,8s,8s,8s,8s',
            LOG_LEVEL: 'warn',
            SHUTDOWN_DELAY: '0ms',
          },
          healthUrl: `http://127.0.0.1:${port}/health/ready`,
          logFolder,
          // A short pause, so that the replica is killed while it works and not while it waits.
          longestPauseMs: 200,
          say() {},
        }),
      )
    }
    await Promise.all(replicas.map(({ ready }) => ready))
    const principals = await passedPrincipals(fastify(), {
      key: derivedPrincipalKey(encryptionKey),
      now: () => new Date(),
    })
    const ask = <Body>(path: string, body?: object) => {
      const caller: Principal = {
        userId: eventId(0),
        username: 'story',
        role: 'GLOBAL_ADMIN',
        scopes: [...SCOPES],
        kind: 'login',
        tokenId: null,
        expiresAt: Number.MAX_SAFE_INTEGER,
      }
      const principal = principals.sign(caller, body ? createWebhook : listWebhookDeliveries)
      return clientOf(replicas, principal)<Body>(path, body)
    }
    const made = await ask<{ id: string; secret: string }>('/webhooks', {
      displayName: 'Flaky',
      url: receiver.url,
      active: true,
      eventTypes: ['API_CREATED'],
    })
    const { id } = made
    secret = made.secret

    const startedAt = performance.now()
    await publishEvents(bus)
    const delivered = async () =>
      (await ask<Page>(`/webhooks/${id}/requests?size=1&status=SUCCESS`)).totalElements
    while ((await delivered()) < EVENTS) {
      expect(performance.now() - startedAt, `delivered ${await delivered()}`).toBeLessThan(DEADLINE_MS)
      await setTimeout(KILL_EVERY_MS)
      const victim = replicas[kills++ % replicas.length]
      const pid = victim?.pid()
      if (pid && victim?.state() === 'ready') process.kill(pid, 'SIGKILL')
    }
    const seconds = (performance.now() - startedAt) / 1_000

    const records: DeliveryRecord[] = []
    for (let page = 1, last = false; !last; page++) {
      const answer = await ask<Page>(`/webhooks/${id}/requests?size=100&page=${page}&sort=createdAt,asc`)
      records.push(...answer.content)
      last = answer.last
    }
    expect(records.map(record => record.eventId).toSorted()).toEqual(
      Array.from({ length: EVENTS }, (_, number) => eventId(number)),
    )
    expect(receiver.arrivals.filter(({ refused }) => refused !== undefined)).toEqual([])
    const arrivals = Map.groupBy(receiver.arrivals, ({ webhookId }) => webhookId)
    let again = 0
    for (const record of records) again += compare(record, arrivals.get(record.id) ?? []) - 1
    expect([...arrivals.keys()].toSorted()).toEqual(records.map(record => record.id).toSorted())

    const attempts = records.flatMap(({ attemptLog }) => attemptLog)
    const errors = Map.groupBy(attempts, ({ error }) => error ?? 'none')
    const counts = [...errors].map(([error, { length }]) => `${error} ${length}`).join(', ')
    console.log(
      `${EVENTS} events in ${seconds.toFixed(0)} s over ${kills} kills; ${receiver.arrivals.length} requests, ` +
        `${again} events again; attempts by error: ${counts}`,
    )
    // Otherwise no faults happened.
    expect(kills).toBeGreaterThan(1)
    expect(again).toBeGreaterThan(0)
  } finally {
    await Promise.all(replicas.map(replica => replica.stop()))
    receiver.close()
    await bus.close()
    await nats?.stop()
    await rm(folder, { recursive: true, force: true })
  }
})
