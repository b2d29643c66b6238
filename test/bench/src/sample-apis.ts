import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gantryClient } from '@gantry/client'
import { readPublicApis } from '@gantry/demo'
import { sqliteEventStore } from '@gantry/embedded'
import { type NewEvent, NO_STREAM } from '@gantry/event-sourcing'

const publicApis = readPublicApis()

/** Data of real APIs, which repeat after a while with different names. */
export function sampleApi(index: number) {
  const { version, ...api } =
    publicApis[index % publicApis.length] ?? (publicApis[0] as (typeof publicApis)[0])
  return {
    ...api,
    name: `${api.name}-${index}`,
    platformType: null,
    owner: null,
    gitUrl: null,
    gitCredential: null,
  }
}

const AT_ONCE = 2_000
const POLL_MS = 100
/** The time of the first event. */
const FIRST_DAY = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const OWNER = '22222222-2222-4222-8222-222222222222'

/**
 * Writes the log of a folder with the events of APIs, as catalog appends them, with `updates` further events each, a day
 * apart.
 * @returns ids in order
 */
export async function seed(folder: string, count: number, updates = 0): Promise<string[]> {
  const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  const ids: string[] = []
  for (let from = 0; from < count; from += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, offset) => {
      const id = randomUUID()
      ids.push(id)
      return eventStore.append(`api-${id}`, history(id, from + offset, updates), NO_STREAM)
    })
    await Promise.all(batch)
  }
  await eventStore.close()
  return ids
}

/** Waits until the audit log, which is projected in the background, has a number of records. */
export async function untilAudited(
  { url, authorization }: { url: string; authorization: string },
  records: number,
): Promise<void> {
  const gantry = gantryClient({ baseUrl: url, token: authorization, retries: 1_000 })
  while ((await gantry.listAuditLog({ size: 1 })).body.totalElements < records) await setTimeout(POLL_MS)
}

function history(id: string, index: number, updates: number): NewEvent[] {
  const time = (days: number) => new Date(FIRST_DAY + days * DAY_MS + index * 1000).toISOString()
  const at = time(0)
  const metadata = { actor: { id: OWNER, name: 'seed' }, requestId: 'seed', at }
  const api = { ...sampleApi(index), owner: OWNER }
  const record = {
    ...api,
    id,
    createdAt: at,
    updatedAt: at,
    hasImage: false,
    deploymentStatus: 'CREATED',
  } as const
  const change = { resourceType: 'API', resourceId: id } as const
  const created: NewEvent = {
    id: randomUUID(),
    type: 'ApiCreated',
    data: { ...api, id, createdAt: at },
    metadata: { ...metadata, change: { ...change, action: 'API_CREATED', before: null, after: record } },
  }
  const updated = Array.from(
    { length: updates },
    (_, n): NewEvent => ({
      id: randomUUID(),
      type: 'ApiUpdated',
      data: { ...api, displayName: `${api.displayName} ${n}`, updatedAt: time(n + 1) },
      metadata: {
        ...metadata,
        at: time(n + 1),
        change: { ...change, action: 'API_UPDATED', before: record, after: record },
      },
    }),
  )
  return [created, ...updated]
}
