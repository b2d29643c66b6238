import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { runCommand, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

const RETRY_MS = 1_000

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-rebuild-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs `npm run rebuild`. */
const rebuild = () => runCommand(['rebuild'], { DATA_DIR: folder, WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' })

function rows(file: string, table: string): number {
  const database = new DatabaseSync(join(folder, file), { readOnly: true })
  const { count } = database.prepare(`SELECT count(*) AS count FROM ${table}`).get() ?? {}
  database.close()
  return Number(count)
}

function forgetRelays(): void {
  const database = new DatabaseSync(join(folder, 'read-models.db'))
  const { changes } = database.prepare("DELETE FROM checkpoints WHERE name LIKE '%.relay'").run()
  database.close()
  if (changes === 0) throw new Error('no relay has a checkpoint')
}

test('a rebuild of a stopped service appends no event, publishes no message and sends no webhook', async () => {
  let received = 0
  const receiver = createServer((_request, response) => {
    received++
    response.writeHead(500).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const service = await startServiceProcess(folder, {
    WEBHOOK_RETRY_SCHEDULE: Array(8)
      .fill(`${RETRY_MS / 1_000}s`)
      .join(),
  })
  const post = async (path: string, body: object) => {
    const headers = { authorization: service.authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(201)
  }
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  await post('/webhooks', { displayName: 'Failing', url, active: true, eventTypes: ['API_CREATED'] })
  await post('/apis', { name: 'weather', displayName: 'Weather', status: 'ACTIVE', tags: [] })
  await vi.waitFor(() => expect(received).toBeGreaterThan(0))
  expect(await service.stop()).toBe(0)

  // Without its checkpoint a relay would publish every event again. A dispatcher would send the overdue delivery.
  forgetRelays()
  for (const suffix of ['', '-wal', '-shm']) await rm(join(folder, `messages.db${suffix}`), { force: true })
  const before = { events: rows('events.db', 'events'), received }
  await setTimeout(RETRY_MS + 500)
  const { code, output } = await rebuild()
  expect([code, output]).toEqual([0, expect.stringContaining('All read models are rebuilt')])
  expect({ events: rows('events.db', 'events'), received }).toEqual(before)
  expect(rows('messages.db', 'messages')).toBe(0)
  receiver.close()
})
