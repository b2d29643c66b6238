import { randomUUID } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type EventStore, type RecordedEvent, START } from '@gantry/event-sourcing'
import { type Host, hostService } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type IdentityService, identityService } from '../app.ts'
import { PASSWORD, SETTINGS } from '../testing/identity-host.ts'

const MANY = 100_000
const PER_APPEND = 1_000
/** Number of tries. The fastest one counts, since other load on the machine only makes a try slower. */
const ROUNDS = 3
/** Tolerance for other load on the machine, in milliseconds. Reading all events would take a second. */
const NOISE_MS = 100

/** Appends copies of the last event of a type to its stream, as that many logins would. */
async function repeatLast(eventStore: EventStore, type: string, times: number) {
  let last: RecordedEvent | undefined
  for await (const event of eventStore.readAll({ after: START })) if (event.type === type) last = event
  if (!last) throw new Error(`no ${type} in the log`)
  let { revision } = last
  for (let left = times; left > 0; left -= PER_APPEND) {
    const { data, metadata, stream } = last
    const events = Array.from({ length: PER_APPEND }, () => ({ id: randomUUID(), type, data, metadata }))
    ;({ revision } = await eventStore.append(stream, events, revision))
  }
}

interface Measured {
  ms: number
  /** The longest time for which the event loop was blocked. */
  blockedMs: number
}

async function measure(work: () => Promise<unknown>): Promise<Measured> {
  const blocked = monitorEventLoopDelay({ resolution: 1 })
  blocked.enable()
  const startedAt = performance.now()
  await work()
  const ms = performance.now() - startedAt
  blocked.disable()
  return { ms, blockedMs: blocked.max / 1e6 }
}

const better = (a: Measured | undefined, b: Measured): Measured => ({
  ms: Math.min(a?.ms ?? Number.POSITIVE_INFINITY, b.ms),
  blockedMs: Math.min(a?.blockedMs ?? Number.POSITIVE_INFINITY, b.blockedMs),
})

async function call(
  { app }: Host<IdentityService>,
  method: 'GET' | 'POST',
  url: string,
  expected: number,
  payload?: object,
) {
  const answer = await app.inject({ method, url, ...(payload && { payload }) })
  expect(answer.statusCode).toBe(expected)
  return answer.json()
}

test('100,000 logins of a user slow down neither a login nor reading the user, and need no memory', {
  timeout: 120_000,
}, async () => {
  const host = await hostService(dependencies => identityService(dependencies, SETTINGS), { start: false })
  onTestFinished(() => host.close())
  await host.service.start()
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined(), { timeout: 10_000 })
  // Restarts without the workers, because processing the events would disturb the measurement.
  await host.restart()
  const logIn = (username: string) => call(host, 'POST', '/login', 200, { username, password: PASSWORD })
  const create = async (username: string): Promise<string> =>
    (await call(host, 'POST', '/users', 201, { username, password: PASSWORD })).id
  const ids = { other: await create('other'), few: await create('few'), many: await create('many') }

  const least: Record<string, Measured> = {}
  const ask = async (name: keyof typeof ids) => {
    const requests = { login: () => logIn(name), get: () => call(host, 'GET', `/users/${ids[name]}`, 200) }
    for (const [request, send] of Object.entries(requests))
      least[`${request} ${name}`] = better(least[`${request} ${name}`], await measure(send))
  }
  /**
   * Measures the first requests of a newly started process, which has cached no stream.
   * @returns the growth of the process's peak memory, in MiB
   */
  const askNewProcess = async (name: keyof typeof ids) => {
    const peakBefore = process.resourceUsage().maxRSS
    await host.restart()
    await ask('other')
    await ask(name)
    return (process.resourceUsage().maxRSS - peakBefore) / 1024
  }
  await logIn('few')
  await logIn('many')
  await repeatLast(host.dependencies.eventStore, 'UserLoggedIn', MANY)
  let [grownByFew, grownByMany] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    grownByFew += await askNewProcess('few')
    grownByMany += await askNewProcess('many')
  }

  for (const request of ['login', 'get']) {
    const [few, many] = [least[`${request} few`], least[`${request} many`]]
    const measured = `${request}: ${JSON.stringify(least)}`
    expect(many?.ms, measured).toBeLessThan(2 * (few?.ms ?? 0) + NOISE_MS)
    expect(many?.blockedMs, measured).toBeLessThan(2 * (few?.blockedMs ?? 0) + NOISE_MS)
  }
  expect(grownByMany, `MiB, after ${grownByFew}`).toBeLessThan(grownByFew + 100)
})
