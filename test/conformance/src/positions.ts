import { expect } from 'vitest'
import type { Client } from './client.ts'
import { eventually } from './gantry.ts'

export interface EventPage {
  content: { position: string }[]
}

/** Expects that events after the position were removed, and that the refusal names the position to continue from. */
export const isGone = async (client: Client, removed: string) => {
  const resumed = { headers: { accept: 'text/event-stream', 'last-event-id': removed } }
  // The oldest position is another one after further events were removed.
  const oldestPosition = await eventually(async () => {
    const refusal = (await client.get('/events', { after: removed })).refused(410, 'position-gone')
    const { detail, oldestPosition } = refusal as unknown as { detail: string; oldestPosition: string }
    expect(detail).toContain('read after=oldestPosition')
    const again = (await client.get('/events', {}, resumed)).refused(410, 'position-gone')
    expect(again).toMatchObject({ oldestPosition })
    return oldestPosition
  })
  await eventually(async () => {
    const oldest = (await client.get('/events', { after: oldestPosition })).as<EventPage>(200)
    expect(oldest.content.length).toBeGreaterThan(0)
    const { content } = (await client.get('/events')).as<EventPage>(200)
    expect(content.length).toBeGreaterThan(0)
    expect(content.slice(0, oldest.content.length)).toEqual(oldest.content.slice(0, content.length))
  })
}
