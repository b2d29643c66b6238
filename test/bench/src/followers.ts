import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { startServiceProcess } from '@gantry/standalone/testing'
import { startIn } from './cluster.ts'
import { paced, throughput, timed } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { atLeast, type Figure, progress } from './report.ts'
import { sampleApi, seed } from './sample-apis.ts'
import { quantile, shown, spread } from './statistics.ts'

const ROUNDS = 5
const SECONDS = 4
const FOLLOWERS = 1_000
const EVENTS = 10_000
const CONNECTIONS = 16
const CHECKS_PER_SECOND = 50

interface Gateway {
  url: string
  headers: { authorization: string }
}

/** (j) Writes and health checks with followers of the event stream, in one process and on a cluster. */
export async function followers(): Promise<Figure[]> {
  const alone = await inFolder(async folder => {
    await seed(folder, EVENTS)
    const { url, authorization, stop } = await startServiceProcess(folder)
    const figures = await measure('one process', { url, headers: { authorization } })
    await stop()
    return figures
  })
  const together = await inFolder(async folder => {
    await seed(folder, EVENTS)
    const { url, headers, stop } = await startIn(folder, 1)
    const figures = await measure('cluster', { url, headers: { authorization: headers.authorization ?? '' } })
    await stop()
    return figures
  })
  return [...alone, ...together]
}

/** Waits until at least `atLeast` events follow. @param after query with a position @returns that of the last event */
async function lastPosition({ url, headers }: Gateway, after: string, atLeast: number): Promise<string> {
  const accept = { ...headers, accept: 'application/x-ndjson' }
  for (;;) {
    const { text } = await timed('GET', `${url}/events?${after}`, accept)
    const lines = text.trimEnd().split('\n')
    if (text !== '' && lines.length >= atLeast)
      return `after=${(JSON.parse(lines.at(-1) ?? '') as { position: string }).position}`
    await setTimeout(1_000)
  }
}

async function measure(where: string, gateway: Gateway): Promise<Figure[]> {
  let head = await lastPosition(gateway, '', EVENTS)
  const atEnd = async () => {
    head = await lastPosition(gateway, head, 1)
    return head
  }
  return [
    ...(await beside(`${where}: from the first event`, gateway, async () => '')),
    ...(await beside(`${where}: at the end`, gateway, atEnd)),
  ]
}

let made = EVENTS

async function beside(
  name: string,
  { url, headers }: Gateway,
  position: () => Promise<string>,
): Promise<Figure[]> {
  const agent = new Agent({ keepAlive: true })
  const load = async () => {
    const checks: number[] = []
    const checking = paced(CHECKS_PER_SECOND, SECONDS, async () => {
      const { ms, status } = await timed('GET', `${url}/health/live`, {}, undefined, agent)
      if (status !== 200) throw new Error(`GET /health/live answered ${status}`)
      checks.push(ms)
    })
    const body = () => JSON.stringify(sampleApi(made++))
    const options = { connections: CONNECTIONS, seconds: SECONDS, method: 'POST', headers, body } as const
    const [rate] = await Promise.all([throughput({ ...options, url: `${url}/apis` }), checking])
    return { rate, checks }
  }

  const ratios: number[] = []
  const checks: number[] = []
  const quietChecks: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    progress(`(j) ${FOLLOWERS} followers, ${name}, round ${round} of ${ROUNDS}`)
    const quiet = await load()
    const following = await startProgram('following', {
      URL: `${url}/events?follow=true&${await position()}`,
      AUTHORIZATION: headers.authorization,
      COUNT: String(FOLLOWERS),
    })
    await setTimeout(2_000)
    const disturbed = await load()
    const told = await (await fetch(following.url)).text()
    progress(`(j) ${quiet.rate} writes a second, then ${disturbed.rate}: followers ${told}`)
    await following.stop()
    await setTimeout(1_000)
    if (round === 0) continue
    ratios.push(disturbed.rate / quiet.rate)
    checks.push(quantile(disturbed.checks, 0.95))
    quietChecks.push(quantile(quiet.checks, 0.95))
  }
  agent.destroy()
  const check = spread(checks)
  return [
    atLeast(`(j) ${where(name)}, writes to those without followers`, ratios, 0.5),
    {
      name: `(j) ${where(name)}, p95 of health checks`,
      reached: `${shown(check, ' ms')}, without followers ${shown(spread(quietChecks), ' ms')}`,
      target: 'under 100 ms',
      met: check.median < 100,
    },
  ]
}

const where = (name: string) => `${FOLLOWERS} followers, ${name}`
