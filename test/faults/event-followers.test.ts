import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sqliteBus } from '@gantry/embedded'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { scaledTimeout } from '../../bin/timeouts.mjs'

const FOLLOWERS = 200
const REPLAYS = 4
const EVENTS = 1_000
const EVENT_BYTES = 20_000
/** Enough for a 95th percentile. */
const SAMPLES = 100
/** Less than the 10 s after which followers without a slot are refused. */
const MAX_MS = 8_000
const SOON = { timeout: scaledTimeout(10_000) }

let folder: string
let service: ServiceProcess
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-followers-'))
  await fillMessages(join(folder, 'messages.db'))
  service = await startServiceProcess(folder, { MAX_EVENT_REPLAYS: String(REPLAYS) })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

/** Fills the bus with events of a type that no consumer of the service handles. */
async function fillMessages(path: string) {
  const bus = sqliteBus({ path })
  for (let n = 0; n < EVENTS; n += 100) {
    const messages = Array.from({ length: 100 }, () => {
      const id = randomUUID()
      const data = {
        ...{
          id,
          type: 'LARGE',
          source: 'archive',
          subject: 'x',
          revision: 0,
          time: new Date(0).toISOString(),
        },
        ...{ data: { text: 'x'.repeat(EVENT_BYTES) }, actor: { id: null, name: 'x' }, requestId: 'x' },
      }
      return { id, subject: 'events.archive.LARGE', data }
    })
    await bus.publish(messages)
  }
  await bus.close()
}

interface Follower {
  /** Status of the response; undefined until it arrives. */
  status?: number
  retryAfter?: string | undefined
  answeredAfterMs?: number
  bytes: number
  end: string
}

/** Followers from the first event, each on its own connection. */
function follow(count: number) {
  const agent = new Agent()
  const startedAt = performance.now()
  const followers = Array.from({ length: count }, () => {
    const follower: Follower = { bytes: 0, end: '' }
    const answered = (answer: IncomingMessage) => {
      follower.status = answer.statusCode ?? 0
      follower.retryAfter = answer.headers['retry-after']
      follower.answeredAfterMs = performance.now() - startedAt
      answer
        .on('error', () => {})
        .on('data', (chunk: Buffer) => {
          follower.bytes += chunk.length
          follower.end = `${follower.end}${chunk.subarray(-1_000)}`.slice(-1_000)
        })
    }
    const headers = { authorization: service.authorization, accept: 'application/x-ndjson' }
    const asked = request(`${service.url}/events?follow=true`, { agent, headers }, answered)
    asked.on('error', () => {}).end()
    return follower
  })
  return { followers, leave: () => agent.destroy() }
}

interface Sent {
  /** The duration of each request, in milliseconds. */
  taken: number[]
  perSecond: number
}

/** Sends requests one after the other, for `ms` milliseconds and until there are `SAMPLES`, but for `MAX_MS` at most. */
async function times(ms: number, ask: () => Promise<Response>): Promise<Sent> {
  const taken: number[] = []
  const startedAt = performance.now()
  const elapsed = () => performance.now() - startedAt
  while (elapsed() < ms || (taken.length < SAMPLES && elapsed() < MAX_MS)) {
    const before = performance.now()
    const answer = await ask()
    expect(answer.ok, await answer.text()).toBe(true)
    taken.push(performance.now() - before)
    await setTimeout(5)
  }
  return { taken, perSecond: (taken.length * 1_000) / elapsed() }
}
const p95 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0
const health = () => fetch(`${service.url}/health/live`)
const write = () =>
  fetch(`${service.url}/apis`, {
    method: 'POST',
    headers: { authorization: service.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: randomUUID(), displayName: 'x', status: 'ACTIVE', tags: [] }),
  })
/** The streams that replay and those that wait, at the same moment. */
const replays = async () => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const [running, waiting] = ['running', 'waiting'].map(state =>
    Number(new RegExp(`^gantry_event_replays\\{.*state="${state}".*\\} (\\d+)`, 'm').exec(text)?.[1]),
  )
  return { running, waiting }
}

test(`with ${FOLLOWERS} followers from the first event the service stays responsive; ${REPLAYS} replay at once`, {
  timeout: scaledTimeout(60_000),
}, async () => {
  await times(500, write)
  const alone = await times(1_500, write)
  const { followers, leave } = follow(FOLLOWERS)
  const streams = () => followers.filter(({ status }) => status === 200)
  const answered = () => followers.filter(({ status }) => status !== undefined)
  await vi.waitFor(async () => expect((await replays()).running).toBe(REPLAYS), SOON)

  const [checks, beside] = await Promise.all([times(3_000, health), times(3_000, write)])
  expect(p95(checks.taken)).toBeLessThan(scaledTimeout(100))
  // On an otherwise idle machine half of the writes remain, see docs/performance.md.
  expect(beside.perSecond).toBeGreaterThan(alone.perSecond * 0.3)
  await vi.waitFor(async () => {
    const before = answered().length
    expect(await replays()).toEqual({ running: REPLAYS, waiting: FOLLOWERS - before })
    expect(answered()).toHaveLength(before)
    expect(streams().filter(({ bytes }) => bytes > EVENT_BYTES).length).toBeGreaterThanOrEqual(REPLAYS)
  }, SOON)

  await vi.waitFor(() => expect(answered()).toHaveLength(FOLLOWERS), scaledTimeout(15_000))
  const refused = followers.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(FOLLOWERS / 2)
  for (const { status, retryAfter, answeredAfterMs, end } of refused) {
    expect([status, retryAfter]).toEqual([503, '2'])
    expect(answeredAfterMs).toBeGreaterThan(9_900)
    expect(JSON.parse(end)).toMatchObject({ code: 'too-many-replays', status: 503 })
  }
  const [first] = streams()
  await vi.waitFor(() => expect(first?.bytes).toBeGreaterThan(EVENTS * EVENT_BYTES), SOON)
  const { name } = (await (await write()).json()) as { name: string }
  await vi.waitFor(() => expect(first?.end).toContain(name), SOON)
  leave()
  await vi.waitFor(async () => expect((await replays()).running).toBe(0), SOON)
})
