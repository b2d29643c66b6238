import { expect, inject, onTestFinished, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { admin, apiFields, createApi, eventually } from '../src/gantry.ts'
import { dataFolder, later, start } from '../src/own-service.ts'

const DAY_MS = 86_400_000

interface Streamed {
  item: { position: string }
}

/** A service that has removed its oldest events: the given service, or one that is restarted with a clock 40 days later. */
const withoutOldEvents = async (): Promise<Client> => {
  if (!inject('ownService')) {
    await createApi()
    return admin
  }
  const folder = await dataFolder()
  const before = await start(folder)
  const then = await before.logIn()
  for (let count = 0; count < 3; count++) (await then.post('/apis', apiFields())).is(201)
  await before.stop()
  const after = await start(folder, { ...later(40 * DAY_MS), MESSAGE_RETENTION: '30d' })
  const now = await after.logIn()
  ;(await now.post('/apis', apiFields())).is(201)
  return now
}

const refusedAfter = async (client: Client, after: number | string) =>
  (await client.get('/events', { after, follow: 'false' })).refused(410, 'position-gone') as unknown as {
    oldestPosition: string
  }

test.skipIf(!inject('ownService') && !inject('eventsRemoved'))(
  'a position whose next events were removed is refused with the oldest position from which reading can continue',
  { timeout: 120_000 },
  async () => {
    const client = await withoutOldEvents()
    const { oldestPosition } = await eventually(() => refusedAfter(client, 0))
    const oldest = Number(oldestPosition)
    expect(oldestPosition).toBe(String(oldest))
    expect(oldest).toBeGreaterThan(0)
    expect(await refusedAfter(client, oldest - 1)).toMatchObject({
      oldestPosition,
      detail: `events up to position ${oldest} have been removed because of their age: read after=${oldest}`,
    })
    const resumed = { headers: { accept: 'text/event-stream', 'last-event-id': '0' } }
    expect((await client.get('/events', {}, resumed)).refused(410, 'position-gone')).toMatchObject({
      oldestPosition,
    })

    const firstOf = async (query: Record<string, string>) => {
      const closing = new AbortController()
      onTestFinished(() => closing.abort())
      const { messages } = await client.stream('/events', query, {}, closing.signal)
      const { value } = await messages.next()
      return Number((value as Streamed).item.position)
    }
    expect(await firstOf({ after: oldestPosition })).toBeGreaterThan(oldest)
    expect(await firstOf({})).toBeGreaterThan(0)
  },
)
