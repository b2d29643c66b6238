import { join } from 'node:path'
import { freePort } from '@gantry/service-runtime/testing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bySource, type EventConsumer, eventConsumers, eventsIn, LANGUAGES } from './src/event-consumers.ts'
import { createApi, newFolder, removeDatabase } from './src/service.ts'

const WRITES = 6

const folder = newFolder()
const data = join(folder, 'data')
let service: ServiceProcess
let consumers: Map<string, EventConsumer>
let written = 0

async function write(count: number) {
  for (let made = 0; made < count; made++) await createApi(service, `api-${written++}`)
}

describe('a consumer that is killed, while the service is killed and starts without its message bus', () => {
  const each = <Result>(work: (one: EventConsumer) => Promise<Result>) =>
    Promise.all([...consumers.values()].map(work))
  const start = () => each(async consumer => consumer.start(service))
  const kill = () => each(consumer => consumer.kill())

  beforeAll(async () => {
    consumers = await eventConsumers(folder)
    const settings = { PORT: String(await freePort()) }
    service = await startServiceProcess(data, settings)
    await write(WRITES)
    await start()
    await vi.waitFor(() =>
      each(async ({ events }) => expect((await events()).length).toBeGreaterThanOrEqual(WRITES / 2)),
    )
    await Promise.all([write(WRITES), kill()])
    await service.kill()
    removeDatabase(data, 'messages.db')
    service = await startServiceProcess(data, settings)
    await start()
    await write(WRITES)
  })
  afterAll(async () => {
    await kill()
    await service.stop()
  })

  test.for(LANGUAGES)('has exactly the events of the log: %s', async (language, { skip }) => {
    skip(!consumers.has(language), `there is no ${language}`)
    const headers = { authorization: service.authorization, accept: 'application/x-ndjson' }
    await vi.waitFor(async () => {
      const all = eventsIn(await (await fetch(`${service.url}/events`, { headers })).text())
      expect(all.filter(({ type }) => type === 'API_CREATED')).toHaveLength(written)
      expect(bySource((await consumers.get(language)?.events()) ?? [])).toEqual(bySource(all))
    })
  })
})
