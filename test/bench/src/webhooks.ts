import { setTimeout } from 'node:timers/promises'
import { gantryClient } from '@gantry/client'
import { freePort } from '@gantry/service-runtime/testing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { apiCreator, paced, timed } from './load.ts'
import { inFolder, type Running, startProgram } from './processes.ts'
import { atLeast, type Figure, progress, withoutTarget } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { quantile, shown, spread } from './statistics.ts'

const BURST = 5_000
const FANOUT = 100
const FANNED_EVENTS = 100
const ROUNDS = 3
const STEADY_PER_SECOND = 200
const STEADY_SECONDS = 20
const FANNED_PER_SECOND = 4
const FANNED_SECONDS = 10
const BODY = JSON.stringify({
  id: crypto.randomUUID(),
  type: 'API_CREATED',
  timestamp: new Date(),
  data: sampleApi(1),
})

/** Runs a measurement with a service and a receiver of its deliveries. */
async function delivering<Result>(use: (scene: Scene) => Promise<Result>): Promise<Result> {
  return inFolder(async folder => {
    const service = await startServiceProcess(folder)
    const receiver = await startProgram('receiver', {})
    try {
      return await use(sceneOf(service, receiver))
    } finally {
      await service.stop()
      await receiver.stop()
    }
  })
}
type Scene = ReturnType<typeof sceneOf>

function sceneOf(service: ServiceProcess, receiver: Running) {
  const gantry = gantryClient({ baseUrl: service.url, token: service.authorization })
  const told = async <Answer>(path: string): Promise<Answer> =>
    JSON.parse((await timed('GET', `${receiver.url}${path}`, {})).text)
  const count = () => told<{ count: number; last: number }>('/count')
  /** Causes an event. */
  const happen = apiCreator(service)
  return {
    receiver,
    happen,
    async subscribe(path: string, url = receiver.url) {
      await gantry.createWebhook({
        body: { displayName: 'bench', url: `${url}${path}`, active: true, eventTypes: ['API_CREATED'] },
      })
    },
    async happenAtOnce(events: number) {
      const waiting = Array.from({ length: events }).values()
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          for (const _ of waiting) await happen()
        }),
      )
    },
    /** Causes events at a fixed rate. */
    happenSteadily: (perSecond: number, seconds: number) => paced(perSecond, seconds, happen),
    count,
    /** Waits for a total number of deliveries. @returns the arrival time of the last one, in milliseconds since 1970 */
    async arrived(wanted: number) {
      for (;;) {
        const there = await count()
        if (there.count >= wanted) return there.last
        await setTimeout(20)
      }
    },
    /** Milliseconds from commit to receipt of all deliveries since the last call, by kind of receiver. */
    delays: () => told<Record<string, number[]>>('/delays'),
  }
}

/** (e) Webhooks: time from the commit of an event to its receipt, and deliveries per second. */
export async function webhooks({ minutes }: { minutes?: number }): Promise<Figure[]> {
  return [
    ...(await steadily(minutes ? minutes * 60 : STEADY_SECONDS)),
    ...(await fannedOut()),
    ...(await isolated()),
  ]
}

async function steadily(seconds: number): Promise<Figure[]> {
  return delivering(async ({ subscribe, happenSteadily, happenAtOnce, arrived, delays }) => {
    await subscribe('/hook')
    progress(`(e) ${STEADY_PER_SECOND} events a second for ${seconds} s`)
    await happenSteadily(STEADY_PER_SECOND, seconds)
    await arrived(STEADY_PER_SECOND * seconds)
    const { hook = [] } = await delays()
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map(q => quantile(hook, q))

    progress(`(e) ${BURST} events at once`)
    const burstAt = Date.now()
    await happenAtOnce(BURST)
    const last = await arrived(STEADY_PER_SECOND * seconds + BURST)
    const rate = BURST / ((last - burstAt) / 1000)
    return [
      {
        name: `(e) commit to receipt at ${STEADY_PER_SECOND}/s for ${seconds} s, p50 / p95 / p99`,
        reached: `${p50} / ${p95} / ${p99} ms`,
        target: 'p95 under 100 ms',
        met: Number(p95) < 100,
      },
      atLeast('(e) events created and delivered a second', [rate], 1_000),
    ]
  })
}

/** Every event goes to many webhooks. In the same round a bare loop posts as many requests. */
async function fannedOut(): Promise<Figure[]> {
  return delivering(async ({ receiver, subscribe, happenAtOnce, count, arrived }) => {
    const poster = await startProgram('poster', { TARGET: `${receiver.url}/bare`, BODY })
    try {
      for (let n = 0; n < FANOUT; n++) await subscribe(`/${n}`)
      const rates: number[] = []
      const ratios: number[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        progress(`(e) ${FANNED_EVENTS} events to ${FANOUT} webhooks each, round ${round} of ${ROUNDS}`)
        const deliveries = FANNED_EVENTS * FANOUT
        const bare = Number((await timed('GET', `${poster.url}/?times=${deliveries}`, {})).text)
        const before = await count()
        const startedAt = Date.now()
        await happenAtOnce(FANNED_EVENTS)
        const last = await arrived(before.count + deliveries)
        const ours = deliveries / ((last - startedAt) / 1000)
        // The first round is a warm-up.
        if (round === 0) continue
        rates.push(ours)
        ratios.push(ours / bare)
      }
      return [
        atLeast(`(e) deliveries a second, each event to ${FANOUT} webhooks`, rates, 1_500),
        withoutTarget('(e) the same to a bare undici loop that posts as much', shown(spread(ratios))),
      ]
    } finally {
      await poster.stop()
    }
  })
}

/** Delays of working webhooks, without and with one broken webhook for every nine of them. */
async function isolated(): Promise<Figure[]> {
  return delivering(async ({ subscribe, happenSteadily, arrived, count, delays }) => {
    const sound = FANOUT * 0.9
    for (let n = 0; n < sound; n++) await subscribe(`/sound/${n}`)
    const p95 = async (what: string) => {
      progress(`(e) ${FANNED_PER_SECOND} events a second to ${sound} webhooks, ${what}`)
      const before = await count()
      await happenSteadily(FANNED_PER_SECOND, FANNED_SECONDS)
      await arrived(before.count + sound * FANNED_PER_SECOND * FANNED_SECONDS)
      return quantile((await delays()).sound ?? [], 0.95)
    }
    await p95('to warm up')
    const alone = await p95('alone')
    const dead = `http://127.0.0.1:${await freePort()}`
    for (let n = sound; n < FANOUT; n += 2) {
      await subscribe(`/${n}`, dead)
      await subscribe(`/drip/${n}`)
    }
    const beside = await p95(`beside ${FANOUT - sound} that are dead or dripping`)
    return [
      {
        name: `(e) p95 of ${sound} webhooks, alone / beside ${FANOUT - sound} dead or dripping`,
        reached: `${alone} / ${beside} ms, ×${(beside / alone).toFixed(2)}`,
        target: 'at most ×1.5',
        met: beside / alone <= 1.5,
      },
    ]
  })
}
