import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { requestRebuild } from '@gantry/event-sourcing'
import { openStores } from '@gantry/hosting/stores'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { runningTopology } from './support/running.ts'
import type { Topology } from './support/topology.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 10)
/** Histories that run concurrently, each on its own resources. The read models are compared after each batch. */
const AT_ONCE = 5
const CLIENTS = 4
const KILLED = ['catalog-1', 'catalog-2', 'identity-1', 'identity-2']
const PROJECTORS = ['catalog.projector', 'identity.projector']
const READY_MS = 60_000
const AGAIN_MS = 200
const NO_ANSWER = 599
/** Successful requests that each history must exceed, so that there is data to compare. */
const SUCCEEDED = 5
const SEED = Number(process.env.HISTORIES_SEED ?? Date.now() % 0x7fffffff)

const running = runningTopology()

/** A request on one of the last few resources, or the kill of a process. */
type Step = { kill: string; afterMs: number } | { kind: keyof typeof REQUESTS; of: number; name: number }

interface Wanted {
  /** Prefix of all names, which keeps histories apart. */
  history: string
  name: number
  api: string | undefined
  user: string | undefined
}
type Request = [method: string, path: string, body?: object] | undefined

const apiOf = ({ history, name }: Wanted) => ({
  name: `${history}-${name}`,
  displayName: randomUUID(),
  status: 'ACTIVE',
  tags: [history],
})
const userOf = ({ history, name }: Wanted) => ({
  username: `${history}-${name}`,
  displayName: randomUUID(),
  sso: true,
})
const versionOf = ({ name }: Wanted) => ({ name: `v${name}`, displayName: randomUUID() })

const REQUESTS = {
  createApi: wanted => ['POST', '/apis', apiOf(wanted)],
  updateApi: wanted => wanted.api && ['PUT', `/apis/${wanted.api}`, apiOf(wanted)],
  deleteApi: ({ api }) => api && ['DELETE', `/apis/${api}`],
  createVersion: wanted => wanted.api && ['POST', `/apis/${wanted.api}/versions`, versionOf(wanted)],
  updateVersion: wanted =>
    wanted.api && ['PUT', `/apis/${wanted.api}/versions/v${wanted.name}`, versionOf(wanted)],
  deleteVersion: ({ api, name }) => api && ['DELETE', `/apis/${api}/versions/v${name}`],
  createUser: wanted => ['POST', '/users', userOf(wanted)],
  updateUser: wanted => wanted.user && ['PUT', `/users/${wanted.user}`, userOf(wanted)],
  deleteUser: ({ user }) => user && ['DELETE', `/users/${user}`],
} satisfies Record<string, (wanted: Wanted) => Request | '' | undefined>

const request: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    ...(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[]),
    ...(['createVersion', 'updateVersion', 'createUser', 'updateUser'] as const),
  ),
  of: fc.nat({ max: 2 }),
  name: fc.nat({ max: 3 }),
})
const kill: fc.Arbitrary<Step> = fc.record({ kill: fc.constantFrom(...KILLED), afterMs: fc.nat({ max: 40 }) })
/** The random steps need an API and a user to change. */
const FIRST: Step[] = [
  { kind: 'createApi', of: 0, name: 0 },
  { kind: 'createUser', of: 0, name: 0 },
]
/** Random requests, with one kill at a random index. */
const steps: fc.Arbitrary<Step[]> = fc
  .record({
    requests: fc.array(request, { minLength: 100, maxLength: 150, size: 'max' }),
    death: kill,
    place: fc.nat({ max: 99 }),
  })
  .map(({ requests, death, place }) => [...FIRST, ...requests.toSpliced(place, 0, death)])

const histories = fc.sample(steps, { seed: SEED, numRuns: HISTORIES })
const batches = Array.from({ length: Math.ceil(HISTORIES / AT_ONCE) }, (_, batch) => batch * AT_ONCE)

test.for(batches)(
  'after random writes under kill -9 the read models equal those of a rebuild, starting with history %i',
  async first => {
    const { topology } = running()
    process.stderr.write(`histories from index ${first} of HISTORIES_SEED=${SEED}\n`)
    await ready(topology)
    const answers = await Promise.all(
      histories
        .slice(first, first + AT_ONCE)
        .map((history, index) => play(topology, `${randomUUID().slice(0, 8)}-${first + index}`, history)),
    )
    for (const statuses of answers)
      expect(statuses.filter(status => status >= 200 && status < 300).length).toBeGreaterThan(SUCCEEDED)
    await project(topology)
    const followed = await records(topology)
    await rebuild(topology)
    expect(followed).toEqual(await records(topology))
    expect(await topology.faults()).toEqual([])
  },
)

/**
 * Runs the steps, each on the next free client. A step that no replica answers is sent again until one does.
 * @returns the statuses of the last responses, one per request
 */
async function play(topology: Topology, history: string, steps: readonly Step[]): Promise<number[]> {
  const [apis, users]: [string[], string[]] = [[], []]
  const answers: number[] = []
  let next = 0
  const take = async (step: Step) => {
    if ('kill' in step) {
      await setTimeout(step.afterMs)
      return killNow(topology, step.kill)
    }
    const { kind, of, name } = step
    const wanted = REQUESTS[kind]({ history, name, api: apis.at(-1 - of), user: users.at(-1 - of) })
    if (!wanted) return
    const { status, location } = await answered(topology, wanted as [string, string, object?])
    answers.push(status)
    const id = /\/(?:apis|users)\/([^/]+)$/.exec(location ?? '')?.[1]
    if (id) (kind === 'createApi' ? apis : users).push(id)
  }
  const client = async () => {
    for (let step = steps[next++]; step; step = steps[next++]) await take(step)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return answers
}

/** Repeats a request until the status is below 500, for at most READY_MS. */
async function answered(topology: Topology, [method, path, body]: [string, string, object?]) {
  const deadline = performance.now() + READY_MS
  for (;;) {
    const answer = await topology
      .send(path, { method, ...(body && { body: JSON.stringify(body) }) })
      .catch(() => undefined)
    await answer?.arrayBuffer()
    const status = answer?.status ?? NO_ANSWER
    if (status < 500 || performance.now() >= deadline)
      return { status, location: answer?.headers.get('location') }
    await setTimeout(AGAIN_MS)
  }
}

function killNow(topology: Topology, name: string) {
  const replica = topology.processes.find(process => process.name === name)
  // A replica that is not running cannot be killed.
  if (replica?.state() === 'ready') process.kill(topology.pid(name), 'SIGKILL')
}

const ready = (topology: Topology) =>
  vi.waitFor(() => expect(topology.processes.every(({ state }) => state() === 'ready')).toBe(true), {
    timeout: READY_MS,
    interval: 50,
  })

/** Restarts the first replicas: a started process is ready once the read models contain all earlier events of the log. */
async function project(topology: Topology) {
  await ready(topology)
  const deaths = () => topology.said.filter(line => line.includes('SIGKILL')).length
  const before = deaths()
  const last = ['catalog-1', 'identity-1']
  for (const name of last) killNow(topology, name)
  await vi.waitFor(() => expect(deaths()).toBe(before + last.length), { timeout: READY_MS, interval: 20 })
  await ready(topology)
}

async function rebuild(topology: Topology) {
  const stores = openStores(topology.engines.urls)
  try {
    const done = await Promise.all(
      PROJECTORS.map(name => requestRebuild(name, stores.readModels, randomUUID())),
    )
    for (const isDone of done)
      await vi.waitFor(async () => expect(await isDone()).toBe(true), { timeout: READY_MS, interval: 100 })
  } finally {
    await stores.close()
  }
}

/** All APIs with their versions, and all users, as clients read them. */
async function records(topology: Topology) {
  const apis = await all(topology, '/apis')
  const versions = await Promise.all(apis.map(({ id }) => all(topology, `/apis/${id}/versions`)))
  return { apis, versions, users: await all(topology, '/users') }
}

async function all(topology: Topology, path: string): Promise<{ id: string }[]> {
  const content: { id: string }[] = []
  for (let page = 1, last = false; !last; page++) {
    const answer = await topology.send(`${path}?size=100&page=${page}`)
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { content: { id: string }[]; last: boolean }
    content.push(...body.content)
    last = body.last
  }
  return content
}
