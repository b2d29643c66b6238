import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { runCommand, startServiceProcess } from '@gantry/standalone/testing'
import { expect, test, vi } from 'vitest'
import { createApi, createWebhook, newFolder, removeDatabase, startReceiver } from './src/service.ts'

const folder = newFolder()

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
  const { url, received } = await startReceiver(() => 500)
  // A retry is overdue when the command has started.
  const service = await startServiceProcess(folder, {
    WEBHOOK_RETRY_SCHEDULE: Array(100).fill('200ms').join(),
  })
  await createWebhook(service, url)
  await createApi(service, 'weather')
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(0))
  expect(await service.stop()).toBe(0)

  // Without its checkpoint a relay would publish every event again. A dispatcher would send the overdue delivery.
  forgetRelays()
  removeDatabase(folder, 'messages.db')
  const before = { events: rows('events.db', 'events'), received: received.length }
  const { code, output } = await runCommand(['rebuild'], {
    DATA_DIR: folder,
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  })
  expect([code, output]).toEqual([0, expect.stringContaining('All read models are rebuilt')])
  expect({ events: rows('events.db', 'events'), received: received.length }).toEqual(before)
  expect(rows('messages.db', 'messages')).toBe(0)
})
