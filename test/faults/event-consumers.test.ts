import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@gantry/service-kit/testing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { scaledTimeout } from '../../bin/timeouts.mjs'

const SAMPLES = resolve(import.meta.dirname, '../../docs/samples/event-consumer')
const WRITES = 20

interface StreamedEvent {
  id: string
  type: string
  source: string
}

let folder: string
let service: ServiceProcess
let settings: Record<string, string>
let written = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-consumers-'))
  settings = { PORT: String(await freePort()) }
  service = await startServiceProcess(join(folder, 'data'), settings)
}, 60_000)
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

const eventsIn = (text: string) =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(line => line.includes('"type"'))
    .map(line => JSON.parse(line) as StreamedEvent)

/** The sample consumer of a language, which can be killed and started again. */
function consumer(language: string, command: readonly string[]) {
  const file = join(folder, `${language}.ndjson`)
  let child: ChildProcess | undefined
  return {
    start() {
      const [program = '', ...args] = command
      const token = service.authorization.replace('Bearer ', '')
      const env = { ...process.env, BASE_URL: service.url, GANTRY_TOKEN: token }
      child = endsWithParent(spawn(program, [...args, file], { env, stdio: 'ignore' }))
    },
    async kill() {
      child?.kill('SIGKILL')
      if (child) await once(child, 'close')
    },
    events: async () => eventsIn(await readFile(file, 'utf8').catch(() => '')),
  }
}

const bySource = (events: readonly StreamedEvent[]) =>
  Object.fromEntries(
    [...Map.groupBy(events, ({ source }) => source)]
      .map(([source, list]) => [source, list.map(({ id }) => id)] as const)
      .toSorted(),
  )

/** Each language with its program, and the command that starts the sample. */
const LANGUAGES = {
  node: { program: process.execPath, command: async () => [process.execPath, join(SAMPLES, 'consumer.mjs')] },
  python: { program: 'python3', command: async () => ['python3', join(SAMPLES, 'consumer.py')] },
  go: {
    program: 'go',
    async command() {
      const program = join(folder, 'consumer')
      await promisify(execFile)('go', ['build', '-o', program, join(SAMPLES, 'consumer.go')])
      return [program]
    },
  },
}
const hasProgram = (program: string) =>
  spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0

describe('a consumer that is killed, while the service restarts without its message bus', () => {
  const consumers = new Map<string, ReturnType<typeof consumer>>()
  const each = <Result>(work: (one: ReturnType<typeof consumer>) => Promise<Result>) =>
    Promise.all([...consumers.values()].map(work))
  const reach = (count: number) =>
    vi.waitFor(
      () => each(async ({ events }) => expect((await events()).length).toBeGreaterThanOrEqual(count)),
      { timeout: scaledTimeout(20_000), interval: 20 },
    )

  beforeAll(async () => {
    for (const [language, { program, command }] of Object.entries(LANGUAGES))
      if (process.env.CI || hasProgram(program)) consumers.set(language, consumer(language, await command()))
    await write(WRITES)
    await each(async ({ start }) => start())
    await reach(written / 2)
    await each(({ kill }) => kill())
    await write(WRITES)
    await each(async ({ start }) => start())
    await reach(written - WRITES / 2)
    await each(({ kill }) => kill())
    await service.stop()
    for (const suffix of ['', '-wal', '-shm'])
      await rm(join(folder, 'data', `messages.db${suffix}`), { force: true })
    service = await startServiceProcess(join(folder, 'data'), settings)
    await each(async ({ start }) => start())
    await write(WRITES)
  }, scaledTimeout(90_000))
  afterAll(() => each(({ kill }) => kill()))

  test.for(Object.keys(LANGUAGES))(
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
