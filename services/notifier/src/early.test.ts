import { setTimeout } from 'node:timers/promises'
import { EarlyMessages, type EventStore } from '@gantry/event-sourcing'
import type { Dependencies } from '@gantry/service-runtime'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type Notifier, openNotifier } from './testing/notifier-host.ts'
import { delayedReply, eventOf, openReceiver, type Receiver } from './testing/receiver.ts'

let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})

/** As in a process with all services. */
const alone =
  (backlogs: (() => number)[] = []) =>
  (dependencies: Dependencies): Dependencies => ({
    ...dependencies,
    process: { ...dependencies.process, alone: { early: new EarlyMessages(), backlogs } },
  })

/** A notifier whose relay is in its process, with a bus that stores no event until `open` is called. */
async function openWithHeldBus(eventStoreOf = ({ eventStore }: Dependencies) => eventStore) {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const around = (dependencies: Dependencies): Dependencies => {
    const { bus } = dependencies
    const publish: typeof bus.publish = (...published) => opened.then(() => bus.publish(...published))
    return { ...alone()(dependencies), bus: { ...bus, publish }, eventStore: eventStoreOf(dependencies) }
  }
  const host = await openNotifier({}, { around })
  onTestFinished(() => open())
  return { host, open }
}

/** An event store whose first append to a stream with the prefix fails. */
const failingOnce =
  (prefix: string, failed = () => {}) =>
  ({ eventStore }: Dependencies): EventStore => {
    let fails = true
    return {
      ...eventStore,
      async append(stream, ...appended) {
        if (!fails || !stream.startsWith(prefix)) return eventStore.append(stream, ...appended)
        fails = false
        failed()
        throw new Error('the disk is gone')
      },
    }
  }

const event = { source: '/subscriptions', specversion: '1.0', type: 'SUBSCRIPTION_CREATED' }
const produce = async (host: Notifier, n: number) => {
  const { status } = await host.call('POST', '/events', { ...event, id: String(n), data: { n } })
  expect(status).toBe(202)
}
const arrived = (path: string) => receiver.on(path).map(arrival => eventOf(arrival).data)

test('an event of the process itself is delivered before the bus has it, and once; ordered webhooks wait for the bus', async () => {
  const { host, open } = await openWithHeldBus()
  await host.subscribe(receiver.url('/a'), [event.type])
  await produce(host, 1)
  await receiver.arrivals('/a', 1)
  await host.having('SUCCESS', 1)
  await host.subscribe(receiver.url('/ordered'), [event.type], { ordered: true })
  await produce(host, 2)
  await receiver.arrivals('/a', 2)
  expect(arrived('/ordered')).toEqual([])
  open()
  await produce(host, 3)
  await host.having('SUCCESS', 5)
  expect(arrived('/a')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  expect(arrived('/ordered')).toEqual([{ n: 2 }, { n: 3 }])
})

test('an event of the process itself is delivered from the bus after it could not be handled early', async () => {
  const failed = Promise.withResolvers<void>()
  const { host, open } = await openWithHeldBus(failingOnce('delivery-', failed.resolve))
  await host.subscribe(receiver.url('/a'), [event.type])
  await produce(host, 1)
  await failed.promise
  open()
  await host.having('SUCCESS', 1)
  expect(arrived('/a')).toEqual([{ n: 1 }])
})

test('an event of the process itself is sent by its first attempt although its body could not be stored with the claim', async () => {
  const { host } = await openWithHeldBus(failingOnce('payload-'))
  await host.subscribe(receiver.url('/a'), [event.type])
  await produce(host, 1)
  expect(await host.only('SUCCESS')).toMatchObject({ attempts: 1 })
})

test('an attempt of a process that died is made again at once when no other process can be making it', async () => {
  const host = await openNotifier({ WEBHOOK_TIMEOUT: '5m' }, { around: alone() })
  await host.subscribe(receiver.url('/a'), [event.type])
  const { respond, letGo } = delayedReply()
  receiver.respond = respond
  await produce(host, 1)
  await receiver.arrivals('/a', 1)
  await host.kill()
  await receiver.arrivals('/a', 2)
  letGo()
  const delivered = await host.only('SUCCESS')
  expect(delivered.attemptLog.map(({ error }) => error)).toEqual(['lost', null])
})

test('first attempts that wait for a slot are behind, until their receiver turns out to be slow', async () => {
  const backlogs: (() => number)[] = []
  const host = await openNotifier({}, { around: alone(backlogs) })
  await host.subscribe(receiver.url('/a'), [event.type])
  const { respond, letGo } = delayedReply()
  receiver.respond = respond
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  for (let n = 0; n < 34; n++) await produce(host, n)
  // 29 slots: an eighth of those that are free then. vi.waitFor would advance the clock.
  while (receiver.on('/a').length < 29 || backlogs[0]?.() !== 5) await setTimeout(10)
  vi.advanceTimersByTime(500)
  expect(backlogs[0]?.()).toBe(0)
  vi.useRealTimers()
  letGo()
  await host.having('SUCCESS', 34)
})
