import { expect, onTestFinished, test } from 'vitest'
import { admin, apiFields, createApi, createVersion } from '../src/gantry.ts'
import type { Message } from '../src/stream.ts'

const NDJSON = 'application/x-ndjson'
const EVENT_STREAM = 'text/event-stream'

interface Streamed {
  position: string | number
  type: string
}
const itemOf = ({ item }: Message) => item as Streamed

/** Opens the stream until the test ends. */
const open = (
  query: Record<string, string | number>,
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
  const stream = await open({})
  expect(stream.contentType).toContain(NDJSON)
  const events = (await about(api.id, 3, stream)).map(itemOf)
  expect(events.map(({ type }) => type)).toEqual(['API_CREATED', 'API_UPDATED', 'API_VERSION_CREATED'])
})

test('reading continues after a position', async () => {
  const api = await createApi()
  const [created] = await about(api.id, 1, await open({}))
  await rename(api.id, api.name, 'Renamed')
  const { messages } = await open({ after: String(created && itemOf(created).position) })
  const next: string[] = []
  while (!next.includes('API_UPDATED')) {
    const { value } = await messages.next()
    if (value && JSON.stringify(value.item).includes(api.id)) next.push(itemOf(value).type)
  }
  expect(next).toEqual(['API_UPDATED'])
})

test('new events are streamed as they happen', async () => {
  const api = await createApi()
  const stream = await open({})
  const [created] = await about(api.id, 1, stream)
  const live = await open({ after: String(created && itemOf(created).position) })
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

test('an invalid position is refused', async () => {
  ;(await admin.get('/events', { after: 'the beginning' })).refused(400)
})
