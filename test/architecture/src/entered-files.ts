import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { ROOT } from './planted-project.ts'

/** The source files of the product that a change and its event enter in one process, ports included, in alphabetical order. */
export interface EnteredFiles {
  /** Between the request `POST /apis` and its response. */
  readonly command: readonly string[]
  /** Between that request and the request that delivers its event to a webhook. */
  readonly event: readonly string[]
}

/** A file counts if every round enters it, so that work which happens to coincide does not count. */
const LEAST_ROUNDS = 12
/** On a machine with too much to do, other work coincides with most rounds. */
const MOST_ROUNDS = 300
/**
 * What each append wakes beside both ways: the projectors of all services, what renews leases and measures, and what looks
 * for the next attempts. And the indexes of lists and words, which neither way reads: on a slow machine their updates
 * coincide with every round.
 */
const BESIDE =
  /^services\/identity\/|^packages\/embedded\/src\/read-models\/(conditions|index-tables|kept-references|kept-values|list-index|list-queries|lists|recent-words|searches|word-index)\.ts$|^packages\/stores\/src\/search\/|^packages\/audit\/|\/(history|api\.history|temporal)\.ts$|\/(projector|projected-models|log-projection|ordered-projection|period-projection|stream-writes|rebuild-requests|removals|quarantine)\.ts$|\/(leases?|consumer-leases|checkpoints|retention|broadcasts|host-clock|service-parts)\.ts$|\/dispatch\/(scheduler|due-index|ordering)\.ts$|[/-]metrics\.ts$|\/contracts\/src\/(documents\/all-operations|events\/(changes|resource-types))\.ts$/
/** What an append wakes beside the request: the relay and, with its messages, other services. */
const WOKEN =
  /^services\/(notifier|media)\/|^packages\/messaging\/|\/bus[./]|\/(public-events|subjects)\.ts$|\/(relay|reactor|replay)\.ts$/

/**
 * Counts with the precise coverage of V8: a file counts if a function in it was called.
 * @param areFew ends the rounds; more rounds leave the files of both ways and remove work that coincided
 */
export async function enteredFiles(
  areFew: (entered: EnteredFiles) => boolean = () => true,
): Promise<EnteredFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-entered-'))
  const service = await startServiceProcess(folder, { NODE_OPTIONS: '--inspect=127.0.0.1:0' })
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  try {
    await once(receiver.listen(0, '127.0.0.1'), 'listening')
    const coverage = await coverageOf(service)
    const { port } = receiver.address() as AddressInfo
    const webhook = {
      displayName: 'traced',
      url: `http://127.0.0.1:${port}/`,
      active: true,
      eventTypes: ['API_CREATED'],
    }
    await post(service, '/webhooks', webhook)
    let entered: EnteredFiles = { command: [], event: [] }
    for (let number = 0; number <= MOST_ROUNDS; number++) {
      await coverage.take()
      const received = once(receiver, 'request')
      await post(service, '/apis', {
        name: `traced-${number}`,
        displayName: 'Traced',
        status: 'ACTIVE',
        tags: [],
      })
      const command = await coverage.take()
      await received
      const event = new Set([...command, ...(await coverage.take())])
      // Round 0 enters what only the first request of a process needs.
      if (number <= 1) entered = { command: [...command], event: [...event] }
      else entered = { command: both(entered.command, command), event: both(entered.event, event) }
      if (number >= LEAST_ROUNDS && areFew(counted(entered))) break
    }
    return counted(entered)
  } finally {
    receiver.close()
    await service.kill()
    await rm(folder, { recursive: true })
  }
}

const both = (paths: readonly string[], others: ReadonlySet<string>) => paths.filter(path => others.has(path))

const counted = ({ command, event }: EnteredFiles): EnteredFiles => ({
  command: command.filter(path => !BESIDE.test(path) && !WOKEN.test(path)).sort(),
  event: event.filter(path => !BESIDE.test(path)).sort(),
})

async function post({ url, authorization }: ServiceProcess, path: string, body: object): Promise<void> {
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

interface Script {
  url: string
  functions: { ranges: { count: number }[] }[]
}

/** Connects to the inspector of a process. `take` tells the files that were entered since it was called last. */
async function coverageOf(service: ServiceProcess) {
  const [, address = ''] = /Debugger listening on (ws:\S+)/.exec(service.output()) ?? []
  const socket = new WebSocket(address)
  await once(socket, 'open')
  let id = 0
  const call = async (method: string, params = {}) => {
    const answered = once(socket, 'message')
    socket.send(JSON.stringify({ id: ++id, method, params }))
    const [{ data }] = (await answered) as [{ data: string }]
    return (JSON.parse(data) as { result: { result?: readonly Script[] } }).result
  }
  await call('Profiler.enable')
  await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const take = async (): Promise<ReadonlySet<string>> => {
    const { result = [] } = await call('Profiler.takePreciseCoverage')
    const entered = result.filter(({ url, functions }) => url.startsWith('file:') && wasCalled(functions))
    const paths = entered.map(({ url }) => fileURLToPath(url).slice(ROOT.length + 1))
    return new Set(paths.filter(path => /^(packages|services)\//.test(path)))
  }
  return { take }
}

const wasCalled = (functions: Script['functions']) =>
  functions.some(({ ranges }) => ranges.some(({ count }) => count > 0))

if (import.meta.main) {
  for (const [way, files] of Object.entries({ ...(await enteredFiles()) }))
    console.log(`${way}: ${files.length} files\n${files.map(path => `  ${path}`).join('\n')}`)
}
