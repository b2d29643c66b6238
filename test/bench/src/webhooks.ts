import { setTimeout } from 'node:timers/promises'
import { startServiceProcess } from '@gantry/standalone/testing'
import { timed } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { quantile, shown, spread } from './statistics.ts'

const BURST = 5_000
const BURST_FANOUT = 1
const STEADY_PER_SECOND = 200
const STEADY_SECONDS = 20

/** (e) Webhooks: deliveries a second while events come as fast as they can, and the time from the 2xx to the receiver. */
export async function webhooks(): Promise<Figure[]> {
  return inFolder(async folder => {
    const service = await startServiceProcess(folder)
    const receiver = await startProgram('receiver', {})
    const headers = { authorization: service.authorization }
    const hook = {
      displayName: 'bench',
      url: `${receiver.url}/hook`,
      active: true,
      eventTypes: ['API_CREATED'],
    }
    for (let n = 0; n < BURST_FANOUT; n++)
      await timed('POST', `${service.url}/webhooks`, headers, JSON.stringify(hook))
    let made = 0
    const create = async () => {
      const { status, text, at } = await timed(
        'POST',
        `${service.url}/apis`,
        headers,
        JSON.stringify(sampleApi(made++)),
      )
      if (status !== 201) throw new Error(`POST /apis answered ${status}`)
      return { id: JSON.parse(text).id as string, at }
    }
    const arrivals = async (): Promise<[string, number][]> =>
      JSON.parse((await timed('GET', `${receiver.url}/arrivals`, {})).text)
    const arrived = async (count: number) => {
      for (;;) {
        const { text } = await timed('GET', `${receiver.url}/count`, {})
        const { count: there, last } = JSON.parse(text) as { count: number; last: number }
        if (there >= count) return last
        await setTimeout(50)
      }
    }

    progress(`(e) ${STEADY_PER_SECOND} events a second for ${STEADY_SECONDS} s`)
    const answered = new Map<string, number>()
    const underWay: Promise<void>[] = []
    const startedAt = performance.now()
    for (let n = 0; n < STEADY_PER_SECOND * STEADY_SECONDS; n++) {
      const due = startedAt + (n * 1000) / STEADY_PER_SECOND
      if (due > performance.now()) await setTimeout(due - performance.now())
      underWay.push(create().then(({ id, at }) => void answered.set(id, at)))
    }
    await Promise.all(underWay)
    await arrived(answered.size)
    const delays = (await arrivals()).map(([id, at]) => Math.max(0, at - (answered.get(id) ?? at)))

    progress(`(e) ${BURST} events at once`)
    const burstAt = Date.now()
    const waiting = Array.from({ length: BURST }).values()
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        for (const _ of waiting) await create()
      }),
    )
    const last = await arrived(BURST * BURST_FANOUT)
    const rate = (BURST * BURST_FANOUT) / ((last - burstAt) / 1000)
    await service.stop()
    await receiver.stop()
    const p95 = quantile(delays, 0.95)
    return [
      {
        name: '(e) events created and delivered a second',
        reached: shown(spread([rate])),
        target: 'at least 1,000',
        met: rate >= 1_000,
      },
      {
        name: '(e) from the 2xx to the receiver at 200/s, p50 / p95 / p99',
        reached: `${quantile(delays, 0.5)} / ${p95} / ${quantile(delays, 0.99)} ms`,
        target: 'p95 under 100 ms',
        met: p95 < 100,
      },
    ]
  })
}
