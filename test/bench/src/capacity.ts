import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gantryClient } from '@gantry/client'
import { readClusterSettings, startCluster } from '@gantry/cluster'
import { freePort } from '@gantry/service-runtime/testing'
import { startServiceProcess } from '@gantry/standalone/testing'
import { loggedIn, type RunningCluster } from './cluster.ts'
import { apiCreator, timed } from './load.ts'
import { inFolder, restingAt, startProgram } from './processes.ts'
import { type Figure, progress, withoutTarget } from './report.ts'
import { seed, untilAudited } from './sample-apis.ts'

const APIS = 2_000
const READS = 10_000
const LISTS = 300
const DELIVERIES = 2_000
const CONNECTIONS = 16
/** The substitute of MongoDB sorts slowly, so lists are read with few connections while there are few APIs. */
const LIST_CONNECTIONS = 2
const POLL_MS = 100
const IDLE_MS = 20_000
const FILES = ['events.db', 'read-models.db', 'messages.db']

/**
 * (m) What a request, a delivery and a rebuilt event cost each process of a cluster, and what an API takes on disk: the
 * figures of docs/capacity.md. The services use the clients of EventStoreDB, MongoDB and NATS. The first two servers are
 * substitutes, whose own cost is not measured.
 */
export async function capacity(): Promise<Figure[]> {
  return [...(await inFolder(processes)), ...(await inFolder(disk))]
}

/** Processor time and memory of each process. */
async function processes(folder: string): Promise<Figure[]> {
  const settings = readClusterSettings({
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
  })
  const environment = {
    ...process.env,
    RATE_LIMIT_PER_MINUTE: '0',
    LOGIN_LIMIT_PER_MINUTE: '0',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  }
  const running = await loggedIn(
    await startCluster({ settings, replicas: 1, environment, say: progress }),
    settings.administrator,
  )
  const receiver = await startProgram('receiver', {})
  try {
    const idle = await memoryOf(running)
    const figures = [withoutTarget('(m) memory of an idle process', inMegabytes(idle))]
    let resting: ByProcess = new Map()
    /** Without what the process would have used anyway. */
    const measured = async (name: string, count: number, work: () => Promise<unknown>) => {
      progress(`(m) ${name}`)
      const { used, elapsedMs } = await usedDuring(running, work)
      const each = new Map(
        [...used].map(([process, own]) => [process, (own - (resting.get(process) ?? 0) * elapsedMs) / count]),
      )
      figures.push(withoutTarget(`(m) processor time, ${name}`, inMilliseconds(each)))
    }

    const { url, authorization } = running
    const ids: string[] = []
    const next = apiCreator(running)
    const create = async () => void ids.push(JSON.parse((await next()).text).id)
    const read = async (path: string) => {
      const { status } = await timed('GET', `${url}${path}`, { authorization })
      if (status !== 200) throw new Error(`GET ${path} answered ${status}`)
    }
    await atOnce(500, create)
    const idleTime = await usedDuring(running, () => setTimeout(IDLE_MS))
    resting = new Map([...idleTime.used].map(([process, own]) => [process, own / idleTime.elapsedMs]))
    figures.push(
      withoutTarget(
        '(m) processor time of an idle process',
        `${shownBy(resting, share => (share / 10).toFixed(1))} % of a core`,
      ),
    )
    await measured('list of ten APIs', LISTS, () =>
      atOnce(LISTS, n => read(`/apis?page=${1 + (n % 20)}`), LIST_CONNECTIONS),
    )
    await measured('create an API', APIS, () => atOnce(APIS, create))
    await measured('read an API', READS, () => atOnce(READS, n => read(`/apis/${ids[n % ids.length]}`)))

    await gantryClient({ baseUrl: url, token: authorization }).createWebhook({
      body: {
        displayName: 'bench',
        url: `${receiver.url}/hook`,
        active: true,
        eventTypes: ['API_CREATED'],
      },
    })
    const arrived = async () =>
      JSON.parse((await timed('GET', `${receiver.url}/count`, {})).text).count as number
    await measured('create an API and deliver its event', DELIVERIES, async () => {
      await atOnce(DELIVERIES, create)
      while ((await arrived()) < DELIVERIES) await setTimeout(POLL_MS)
    })
    figures.push(withoutTarget('(m) memory after the load', inMegabytes(await memoryOf(running))))
    return figures
  } finally {
    await receiver.stop()
    await running.stop()
  }
}

/** Bytes of the files of one process for each API, after its read models and its audit log are complete. */
async function disk(folder: string): Promise<Figure[]> {
  progress(`(m) files of ${APIS} APIs`)
  await seed(folder, APIS)
  const service = await startServiceProcess(folder)
  await untilAudited(service, APIS)
  await service.stop()
  const sizes = await Promise.all(FILES.map(async file => (await stat(join(folder, file))).size / APIS))
  const reached = FILES.map((file, n) => `${file} ${Math.round(sizes[n] ?? 0)}`).join(', ')
  return [{ name: '(m) bytes on disk for each API', reached, target: '', met: undefined }]
}

/** Does `count` pieces of work on some connections. */
async function atOnce(
  count: number,
  work: (n: number) => Promise<void>,
  connections = CONNECTIONS,
): Promise<void> {
  const waiting = Array.from({ length: count }, (_, n) => n).values()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (const n of waiting) await work(n)
    }),
  )
}

type ByProcess = ReadonlyMap<string, number>

async function ofEach(
  { processes }: RunningCluster,
  measure: (pid: number) => Promise<number>,
): Promise<ByProcess> {
  const measured = new Map<string, number>()
  for (const { name, pid } of processes) measured.set(name.replace(/-1$/, ''), await measure(pid() ?? 0))
  return measured
}

/** Microseconds of processor time that each process uses from rest to rest. */
async function usedDuring(
  running: RunningCluster,
  work: () => Promise<unknown>,
): Promise<{ used: ByProcess; elapsedMs: number }> {
  const before = await ofEach(running, restingAt)
  const startedAt = performance.now()
  await work()
  const after = await ofEach(running, restingAt)
  const used = new Map([...after].map(([process, total]) => [process, total - (before.get(process) ?? 0)]))
  return { used, elapsedMs: performance.now() - startedAt }
}

const memoryOf = (running: RunningCluster) =>
  ofEach(running, async pid => {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1_024
  })

const shownBy = (values: ByProcess, one: (value: number) => string) =>
  [...values].map(([name, value]) => `${name} ${one(value)}`).join(', ')
const inMegabytes = (values: ByProcess) => `${shownBy(values, bytes => (bytes / 1e6).toFixed(0))} MB`
const inMilliseconds = (values: ByProcess) => `${shownBy(values, used => (used / 1_000).toFixed(2))} ms`
