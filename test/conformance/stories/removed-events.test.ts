import { expect, inject, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { admin, apiFields, createApi, eventually } from '../src/gantry.ts'
import { dataFolder, later, start } from '../src/own-service.ts'

const DAY_MS = 86_400_000
interface EventPage {
  content: { position: string }[]
}

/**
 * A service that has removed events, and a position before them: the given service, or one that is restarted with a clock
 * 40 days later.
 */
const withoutOldEvents = async (): Promise<{ client: Client; removed: string }> => {
  const removed = inject('removedPosition')
  if (removed !== undefined) {
    await createApi()
    return { client: admin, removed }
  }
  const folder = await dataFolder()
  const before = await start(folder)
  const then = await before.logIn()
  for (let count = 0; count < 3; count++) (await then.post('/apis', apiFields())).is(201)
  const first = await eventually(async () => {
    const { content } = (await then.get('/events', { type: 'API_CREATED' })).as<EventPage>(200)
    expect(content).toHaveLength(3)
    return content[0]?.position ?? ''
  })
  await before.stop()
  const after = await start(folder, { ...later(40 * DAY_MS), MESSAGE_RETENTION: '30d' })
  const client = await after.logIn()
  ;(await client.post('/apis', apiFields())).is(201)
  return { client, removed: first }
}

test.skipIf(!inject('ownService') && !inject('removedPosition'))(
  'a position whose next events were removed is refused with the oldest position from which reading can continue',
  { timeout: 120_000 },
  async () => {
    const { client, removed } = await withoutOldEvents()
    const resumed = { headers: { accept: 'text/event-stream', 'last-event-id': removed } }
    // The oldest position is another one after further events were removed.
    const oldestPosition = await eventually(async () => {
      const refusal = (await client.get('/events', { after: removed })).refused(410, 'position-gone')
      const { detail, oldestPosition } = refusal as unknown as { detail: string; oldestPosition: string }
      expect(detail).toContain('read after=oldestPosition')
      expect((await client.get('/events', {}, resumed)).refused(410, 'position-gone')).toMatchObject({
        oldestPosition,
      })
      return oldestPosition
    })
    await eventually(async () => {
      const oldest = (await client.get('/events', { after: oldestPosition })).as<EventPage>(200)
      expect(oldest.content.length).toBeGreaterThan(0)
      const { content } = (await client.get('/events')).as<EventPage>(200)
      expect(content.length).toBeGreaterThan(0)
      expect(content.slice(0, oldest.content.length)).toEqual(oldest.content.slice(0, content.length))
    })
  },
)
