import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { exportAuditLog, subjects } from '@gantry/contracts'
import Fastify from 'fastify'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { bearer, type EdgeHost, grace, hostEdge } from './testing/edge-host.ts'

let host: EdgeHost
const valid = { ...grace, expiresAt: Date.now() + 60_000 }
beforeEach(async () => {
  host = await hostEdge()
})
afterEach(() => host.close())

async function* endless() {
  for (;;) {
    yield '{}\n'
    await pause(10)
  }
}

test('exports of the audit log break off once their credential is revoked or lacks the scope', async () => {
  const { principals } = host.identity
  const app = Fastify()
  onTestFinished(() => app.close())
  app.get('/', {
    onRequest: async (request, reply) => void (await host.gateway.admit(request, reply, exportAuditLog)),
    handler: (_request, reply) => reply.send(Readable.from(endless())),
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const closing = new AbortController()
  // Called before app.close, which waits for the responses.
  onTestFinished(() => closing.abort())
  const open = async (credential: string) => {
    principals.set(credential, valid)
    const answer = await fetch(url, { headers: bearer(credential), signal: closing.signal })
    expect(answer.status).toBe(200)
    let broken = false
    answer.text().catch(() => {
      broken = true
    })
    return { broken: () => broken }
  }
  const [revoked, limited, unchanged] = [await open('one'), await open('other'), await open('third')]
  principals.delete('one')
  principals.set('other', { ...valid, scopes: ['API_READ'] })
  await host.bus.broadcast(subjects.principalChanged, { userId: grace.userId })
  await vi.waitFor(() => expect([revoked.broken(), limited.broken()]).toEqual([true, true]))
  const { asked } = host.identity
  await vi.waitFor(() => expect(asked.filter(credential => credential === 'third')).toHaveLength(2))
  expect(unchanged.broken()).toBe(false)
})
