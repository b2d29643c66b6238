import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gantry/service-kit/testing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { scaledTimeout } from '../../bin/timeouts.mjs'
import { bySource, type EventConsumer, eventConsumers, eventsIn, LANGUAGES } from './src/event-consumers.ts'

const WRITES = 6

let folder: string
let service: ServiceProcess
let settings: Record<string, string>
let consumers: Map<string, EventConsumer>
let written = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-consumers-'))
  settings = { PORT: String(await freePort()) }
  ;[service, consumers] = await Promise.all([
    startServiceProcess(join(folder, 'data'), settings),
    eventConsumers(folder),
  ])
}, scaledTimeout(60_000))
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

async function write(count: number) {
  const headers = { authorization: service.authorization, 'content-type': 'application/json' }
  for (let made = 0; made < count; made++) {
    const body = JSON.stringify({ name: randomUUID(), displayName: 'x', status: 'ACTIVE', tags: [] })
    expect((await fetch(`${service.url}/apis`, { method: 'POST', headers, body })).status).toBe(201)
    written++
  }
}

describe('a consumer that is killed, while the service is killed and starts without its message bus', () => {
  const each = <Result>(work: (one: EventConsumer) => Promise<Result>) =>
    Promise.all([...consumers.values()].map(work))
  const start = () => each(async consumer => consumer.start(service))
  const kill = () => each(consumer => consumer.kill())

  beforeAll(async () => {
    await write(WRITES)
    await start()
    await vi.waitFor(
      () => each(async ({ events }) => expect((await events()).length).toBeGreaterThanOrEqual(WRITES / 2)),
      { timeout: scaledTimeout(20_000), interval: 20 },
    )
    await Promise.all([write(WRITES), kill()])
    await service.kill()
    for (const suffix of ['', '-wal', '-shm'])
      await rm(join(folder, 'data', `messages.db${suffix}`), { force: true })
    service = await startServiceProcess(join(folder, 'data'), settings)
    await start()
    await write(WRITES)
  }, scaledTimeout(90_000))
  afterAll(kill)

  test.for(LANGUAGES)(
    'has exactly the events of the log: %s',
    { timeout: scaledTimeout(30_000) },
    async (language, { skip }) => {
      skip(!consumers.has(language), `there is no ${language}`)
      const headers = { authorization: service.authorization, accept: 'application/x-ndjson' }
      await vi.waitFor(
        async () => {
          const all = eventsIn(await (await fetch(`${service.url}/events`, { headers })).text())
          expect(all.filter(({ type }) => type === 'API_CREATED')).toHaveLength(written)
          expect(bySource((await consumers.get(language)?.events()) ?? [])).toEqual(bySource(all))
        },
        { timeout: scaledTimeout(20_000), interval: 100 },
      )
    },
  )
})
