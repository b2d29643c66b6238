import { expect, inject, onTestFinished, test } from 'vitest'
import { apiFields, createApi, createVersion } from '../src/apis.ts'
import type { Query } from '../src/client.ts'
import { admin, cleanUp, eventually, uuid } from '../src/gantry.ts'
import { isGone } from '../src/positions.ts'
import type { Message } from '../src/stream.ts'
import { deliveryAbout, subscribe } from '../src/webhooks.ts'

const NDJSON = 'application/x-ndjson'
const EVENT_STREAM = 'text/event-stream'

interface Streamed {
  position: string | number
  type: string
}
const itemOf = ({ item }: Message) => item as Streamed

/** Opens the stream until the test ends. */
const open = (
  query: Record<string, string | boolean>,
  headers: Record<string, string> = { accept: NDJSON },
) => {
  const closing = new AbortController()
  onTestFinished(() => closing.abort())
  return admin.stream('/events', query, headers, closing.signal)
}

/** Reads until `count` messages contain the text. */
const about = async (text: string, count: number, { messages }: Awaited<ReturnType<typeof open>>) => {
  const found: Message[] = []
  while (found.length < count) {
    const { value, done } = await messages.next()
    if (done) throw new Error(`The stream ended after ${found.length} messages about ${text}`)
    if (JSON.stringify(value.item).includes(text)) found.push(value)
  }
  return found
}

const rename = async (id: string, name: string, displayName: string) =>
  (await admin.put(`/apis/${id}`, apiFields({ name, displayName }))).is(200)

test('past events are read as newline-delimited JSON, in order', async () => {
  const api = await createApi()
  await rename(api.id, api.name, 'Renamed')
  await createVersion(api)
  const stream = await open({ follow: true })
  expect(stream.contentType).toContain(NDJSON)
  const events = (await about(api.id, 3, stream)).map(itemOf)
  expect(events.map(({ type }) => type)).toEqual(['API_CREATED', 'API_UPDATED', 'API_VERSION_CREATED'])
})

test('an event and its deliveries have the trace id of the request', async () => {
  const traceId = uuid().replaceAll('-', '')
  const { webhook } = await subscribe(['API_CREATED'])
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-00` }
  const api = (await admin.post('/apis', apiFields(), { headers })).as<{ id: string }>(201)
  cleanUp(`/apis/${api.id}`)
  const [created] = await about(api.id, 1, await open({ follow: true }))
  expect(created && itemOf(created)).toMatchObject({ traceId })
  expect(await deliveryAbout(webhook, api.id)).toMatchObject({ traceId })
})

test('reading continues after a position, and new events are streamed as they happen', async () => {
  const api = await createApi()
  const stream = await open({ follow: true })
  const [created] = await about(api.id, 1, stream)
  const live = await open({ follow: true, after: String(created && itemOf(created).position) })
  const both = [about(api.id, 1, stream), about(api.id, 1, live)]
  await rename(api.id, api.name, 'Renamed')
  for (const [updated] of await Promise.all(both)) expect(updated && itemOf(updated).type).toBe('API_UPDATED')
})

test('events are also available as server-sent events, resumed by Last-Event-ID', async () => {
  const api = await createApi()
  const first = await open({}, { accept: EVENT_STREAM })
  expect(first.contentType).toContain(EVENT_STREAM)
  const [created] = await about(api.id, 1, first)
  expect(created?.id).toBeTruthy()

  await rename(api.id, api.name, 'Renamed')
  const resumed = await open({}, { accept: EVENT_STREAM, 'last-event-id': created?.id ?? '' })
  const [updated] = await about(api.id, 1, resumed)
  expect(updated && itemOf(updated).type).toBe('API_UPDATED')
})

interface EventPage {
  content: { position: string; type: string; subject: string; time: string }[]
  position: string
}
const page = async (query: Query) => (await admin.get('/events', query)).as<EventPage>(200)

/** The events of a query, page by page, until the end of the feed. */
const pagesOf = async (query: Query) => {
  const content: EventPage['content'] = []
  for (let after: string | undefined; ; ) {
    const next = await page({ ...query, ...(after !== undefined && { after }) })
    content.push(...next.content)
    if (next.content.length === 0 && next.position === after) return { content, position: next.position }
    after = next.position
  }
}

test('pages have every event once, and the last position continues with the next event', async () => {
  const from = new Date().toISOString()
  const api = await createApi()
  await rename(api.id, api.name, 'Renamed')
  const read = await eventually(async () => {
    const pages = await pagesOf({ api: api.id, from, size: 1 })
    expect(pages.content.map(({ type }) => type)).toEqual(['API_CREATED', 'API_UPDATED'])
    return pages
  })
  await rename(api.id, api.name, 'Again')
  await eventually(async () => {
    const { content } = await pagesOf({ api: api.id, after: read.position })
    expect(content.map(({ type }) => type)).toEqual(['API_UPDATED'])
  })
})

test('filters by type, API, webhook, user and time are combined', async () => {
  const from = new Date().toISOString()
  const api = await createApi()
  const version = await createVersion(api)
  const { webhook } = await subscribe(['TEST'])
  const { owner: user } = (await admin.get(`/apis/${api.id}`)).as<{ owner: string }>(200)
  const typesOf = async (query: Query) => (await pagesOf({ from, ...query })).content.map(({ type }) => type)
  await eventually(async () =>
    expect(await typesOf({ api: api.id, user })).toEqual(['API_CREATED', 'API_VERSION_CREATED']),
  )
  await eventually(async () => expect(await typesOf({ webhook: webhook.id })).toEqual(['WEBHOOK_CREATED']))
  expect(await typesOf({ api: api.id, type: ['API_VERSION_CREATED', 'API_DELETED'] })).toEqual([
    'API_VERSION_CREATED',
  ])
  expect(await typesOf({ api: api.id, type: '', to: from })).toEqual([])
  expect(await typesOf({ api: api.id, type: '' })).toEqual(['API_CREATED', 'API_VERSION_CREATED'])
  expect(await typesOf({ api: version.id })).toEqual([])
})

test('the Accept header chooses the form, with quality values', async () => {
  const typeFor = async (accept: string) => {
    const answer = await admin.get('/events', {}, { headers: { accept } })
    return [answer.status, answer.headers.get('content-type')]
  }
  expect(await typeFor('*/*')).toEqual([200, 'application/json'])
  expect(await typeFor(`${NDJSON};q=0.2, application/json;q=0.9`)).toEqual([200, 'application/json'])
  expect(await typeFor('text/html, application/xml')).toEqual([
    406,
    'application/problem+json; charset=utf-8',
  ])
  const closing = AbortSignal.timeout(60_000)
  const accept = `application/json;q=0.1, ${NDJSON};q=0.5, ${EVENT_STREAM};q=0`
  expect((await admin.stream('/events', {}, { accept }, closing)).contentType).toBe(NDJSON)
})

test.for<[Query, string, string]>([
  [{ after: 'the beginning' }, 'application/json', 'invalid-request'],
  [{ type: 'API_EXPLODED' }, 'application/json', 'unknown-event-types'],
  [{ from: '2999-01-01T00:00:00Z' }, 'application/json', 'invalid-request'],
  [{ size: 0 }, 'application/json', 'invalid-request'],
  [{ size: 1_001 }, 'application/json', 'invalid-request'],
  [{ size: 10 }, NDJSON, 'invalid-request'],
  [{ follow: true }, 'application/json', 'invalid-request'],
  [{ follow: false }, EVENT_STREAM, 'invalid-request'],
])('%j as %s is refused as %s', async ([query, accept, code]) => {
  ;(await admin.get('/events', query, { headers: { accept } })).refused(400, code)
})

const removed = inject('removedPosition')
const skipped = 'needs a service that has removed events: REMOVED_POSITION is a position before them'

// Of a service that the suite starts, journeys/time.journey.ts tests the same with a clock that is ahead.
test.skipIf(removed === undefined)(
  'a position whose next events were removed is refused with the oldest position from which reading can continue',
  { meta: { skipped } },
  async () => {
    await createApi()
    await isGone(admin, removed ?? '')
  },
)
