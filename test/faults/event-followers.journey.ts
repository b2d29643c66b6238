import { randomUUID } from 'node:crypto'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { sqliteBus } from '@gantry/embedded'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test, vi } from 'vitest'
import { createApi, metric, newFolder } from './src/service.ts'

const FOLLOWERS = 100
const REPLAYS = 4
/** More bytes than the buffers between the bus and a reader hold. */
const EVENTS = 600
const EVENT_BYTES = 20_000

const folder = newFolder()

/** Fills the bus with events of a type that no consumer of the service handles. */
async function fillMessages(path: string) {
  const bus = sqliteBus({ path })
  const messages = Array.from({ length: EVENTS }, () => {
    const id = randomUUID()
    const event = { id, type: 'LARGE', source: 'archive', subject: 'x', revision: 0, requestId: 'x' }
    const more = { time: new Date(0).toISOString(), actor: { id: null, name: 'x' } }
    return {
      id,
      subject: 'events.archive.LARGE',
      data: { ...event, ...more, data: { text: 'x'.repeat(EVENT_BYTES) } },
    }
  })
  await bus.publish(messages)
  await bus.close()
}

test(`of ${FOLLOWERS} followers from the first event ${REPLAYS} replay at once, beside other requests`, async () => {
  await fillMessages(join(folder, 'messages.db'))
  const service = await startServiceProcess(folder, { MAX_EVENT_REPLAYS: String(REPLAYS) })
  const agent = new Agent()
  const answers: IncomingMessage[] = []
  const headers = { authorization: service.authorization, accept: 'application/x-ndjson' }
  for (let n = 0; n < FOLLOWERS; n++)
    request(`${service.url}/events?follow=true`, { agent, headers }, answer =>
      answers.push(answer.on('error', () => {})),
    )
      .on('error', () => {})
      .end()
  const running = () => metric(service, 'gantry_event_replays', 'state="running"')
  const waiting = () => metric(service, 'gantry_event_replays', 'state="waiting"')

  // A follower that does not read keeps its slot for seconds. The others wait, and are answered when they get one.
  await vi.waitFor(async () => {
    expect(answers.length).toBeGreaterThanOrEqual(REPLAYS)
    expect(await running()).toBe(REPLAYS)
    expect(await waiting()).toBeGreaterThan(REPLAYS)
  })
  await createApi(service, 'beside')
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)
  expect(await running()).toBe(REPLAYS)

  // One that reads gets all past events and then new ones.
  const [reader] = answers
  let bytes = 0
  let end = ''
  reader?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    end = `${end}${chunk.subarray(-1_000)}`.slice(-1_000)
  })
  await vi.waitFor(() => expect(bytes).toBeGreaterThan(EVENTS * EVENT_BYTES))
  await createApi(service, 'new')
  await vi.waitFor(() => expect(end).toContain('"new"'))

  agent.destroy()
  await vi.waitFor(async () => expect([await running(), await waiting()]).toEqual([0, 0]))
  expect(await service.stop()).toBe(0)
})
