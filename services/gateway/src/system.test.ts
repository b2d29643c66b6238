import { requests, type ServiceState } from '@gantry/contracts'
import { internalRequests, replicas } from '@gantry/hosting'
import Fastify from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemOf } from './system.ts'

const log = pino({ level: 'silent' })
const now = () => new Date()
const own = {
  host: 'edge',
  version: '1.5.0',
  node: '24.21.0',
  startedAt: '2026-11-21T09:00:00.000Z',
  waitsFor: null,
  backingStores: [],
}
const bus = {
  purpose: 'MESSAGE_BUS',
  kind: 'NATS',
  version: '2.10.22',
  status: 'AVAILABLE',
} as const

/** Starts a replica. @returns its URL */
async function replica(release: string, answer?: () => Promise<ServiceState>): Promise<string> {
  const inside = internalRequests({ services: {}, basePath: '', pass: () => '' })
  if (answer) inside.answer(requests.processState('catalog'), answer)
  const app = Fastify()
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  app.get('/health/ready', async (_request, reply) => reply.header('x-gantry-release', release).send({}))
  await app.register(async scope => inside.routes(scope, () => {}))
  return app.listen({ host: '127.0.0.1', port: 0 })
}

test('shows every replica of a service, also one that hangs, is gone, or does not know the request', async () => {
  const answers = (host: string, seconds: number) => async () => ({
    ...own,
    host,
    backingStores: [bus],
    lag: [{ name: 'catalog-media', kind: 'CONSUMER' as const, events: 3, seconds }],
  })
  const urls = [
    await replica('1.5.0', answers('idle', 0)),
    await replica('1.5.0', answers('handling', 7)),
    await replica('1.4.0'),
    await replica('1.5.0', () => new Promise(() => {})),
    'http://127.0.0.1:1',
  ]
  const known = replicas({ urls, basePath: '', now, log })
  onTestFinished(known.watch())
  await vi.waitFor(() => expect(known.all().filter(({ ready }) => ready)).toHaveLength(4))
  const asking = internalRequests({ services: { catalog: known }, basePath: '', pass: () => '' })
  const { services, lag, backingStores } = await systemOf(['catalog', 'media'], asking, own)
  const [catalog, media, gateway] = services
  expect(catalog?.status).toBe('READY')
  expect(catalog?.replicas.map(({ status, version, host }) => ({ status, version, host }))).toEqual([
    { status: 'READY', version: '1.5.0', host: 'idle' },
    { status: 'READY', version: '1.5.0', host: 'handling' },
    { status: 'READY', version: '1.4.0', host: null },
    { status: 'UNAVAILABLE', version: '1.5.0', host: null },
    { status: 'UNAVAILABLE', version: null, host: null },
  ])
  expect(media).toEqual({ name: 'media', status: 'UNAVAILABLE', replicas: [] })
  expect(gateway?.replicas).toEqual([expect.objectContaining({ status: 'READY', host: 'edge' })])
  expect(lag).toEqual([
    { name: 'catalog-media', kind: 'CONSUMER', events: 3, seconds: 7, service: 'catalog' },
  ])
  expect(backingStores).toEqual([{ ...bus, services: ['catalog'] }])
})
