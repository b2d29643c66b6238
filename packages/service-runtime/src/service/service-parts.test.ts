import { Projector, type Worker } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { hostService } from '../testing/index.ts'
import { responder } from './peers.ts'
import type { Dependencies } from './service.ts'
import { type ServiceParts, serviceFrom } from './service-parts.ts'

const collection = defineCollection<{ id: string }>({ name: 'parts.documents', version: 1, fields: {} })
const projection = (dependencies: Dependencies, background = false) =>
  new Projector({
    ...dependencies,
    ...dependencies.process,
    name: background ? 'parts.background' : 'parts.projector',
    collections: [collection],
    background,
  })

/** Hosts a service without starting it. */
async function open(parts: (dependencies: Dependencies) => Partial<ServiceParts>) {
  const host = await hostService(
    dependencies =>
      serviceFrom(dependencies, {
        name: 'parts',
        projectors: [projection(dependencies)],
        routes() {},
        publication: { streamPrefixes: ['part-'], publicEvents: () => [], subjects: ['events.parts.>'] },
        ...parts(dependencies),
      }),
    { start: false },
  )
  onTestFinished(() => host.close())
  return host
}
const ready = ({ service }: Awaited<ReturnType<typeof open>>) =>
  vi.waitFor(() => expect(service.waitingFor()).toBeUndefined())

const idle: Worker = { stop: async () => {} }
const question = {
  service: 'parts',
  id: 'parts.question',
  asked: z.null(),
  answer: z.string(),
  timeoutMs: 200,
}
const answering = [responder(question, async () => 'answer')]
const ask = ({ dependencies }: Awaited<ReturnType<typeof open>>) =>
  dependencies.process.peers.ask(question, null)

test('a start for a rebuild starts the projectors and neither relay, workers, reactors nor responders', async () => {
  const started: string[] = []
  const host = await open(() => ({
    workers: [
      () => {
        started.push('worker')
        return idle
      },
    ],
    publication: {
      streamPrefixes: ['part-'],
      publicEvents: () => [],
      get subjects() {
        started.push('relay')
        return ['events.parts.>']
      },
    },
    reactors: [
      { consumer: 'parts', subjects: ['events.other.>'], react: async () => void started.push('reactor') },
    ],
    responders: answering,
  }))
  await host.dependencies.bus.publish([{ id: 'one', subject: 'events.other.ONE', data: {} }])
  await host.service.start('projectors')
  await ready(host)
  await expect(ask(host)).rejects.toThrow()
  await host.service.stop()
  expect(started).toEqual([])
})

test('waits for a worker that waits, then for the read models', async () => {
  let waitsFor: string | undefined = 'its keys'
  const worker: Worker = {
    ...idle,
    get waitsFor() {
      return waitsFor
    },
  }
  const host = await open(() => ({ workers: [() => worker] }))
  expect(host.service.waitingFor()).toBe('the read models of parts')
  await host.service.start()
  await vi.waitFor(() => expect(host.service.waitingFor()).toBe('its keys'))
  waitsFor = undefined
  await ready(host)
})

test('does not wait for a background projector', async () => {
  const host = await open(dependencies => {
    const behind = projection(dependencies, true)
    Object.defineProperty(behind, 'caughtUp', { value: false })
    return { projectors: [projection(dependencies), behind] }
  })
  await host.service.start('projectors')
  await ready(host)
  expect(host.service.projectors).toEqual(['parts.projector', 'parts.background'])
})

test('releases workers while it answers; stops responders, then drains, then stops the projectors', async () => {
  const ended: string[] = []
  const part = (name: string) => ({ stop: async () => void ended.push(name) })
  const host = await open(dependencies => {
    const projector = projection(dependencies)
    return {
      projectors: [Object.assign(projector, { start() {} }, part('projector'))],
      workers: [() => part('worker')],
      responders: answering,
      async drain() {
        await expect(ask(host)).rejects.toThrow()
        ended.push('drain')
      },
    }
  })
  await host.service.start()
  await host.service.release()
  expect(ended).toEqual(['worker'])
  expect(await ask(host)).toBe('answer')
  ended.length = 0
  await host.service.stop()
  expect(ended).toEqual(['worker', 'drain', 'projector'])
})
