import { expect, onTestFinished, test } from 'vitest'
import { admin, eventually, unique } from '../src/gantry.ts'
import { platformEvent, publish } from '../src/platform-events.ts'
import type { AuditRecord, Page } from '../src/records.ts'
import { listDeliveries, subscribe } from '../src/webhooks.ts'

const SECRET = 'correct-horse-7391'

const streamedAbout = async (text: string) => {
  const closing = new AbortController()
  onTestFinished(() => closing.abort())
  const accept = { accept: 'application/x-ndjson' }
  const { messages } = await admin.stream('/events', { follow: true }, accept, closing.signal)
  for await (const { item } of messages) if (JSON.stringify(item).includes(text)) return item
  throw new Error(`the stream ended without ${text}`)
}

const auditedAbout = (text: string) =>
  eventually(async () => {
    const query = { action: 'CONFIGURATION_CHANGED', size: 100 }
    const { content } = (await admin.get('/auditLog', query)).as<Page<AuditRecord>>(200)
    const record = content.find(entry => JSON.stringify(entry).includes(text))
    if (!record) throw new Error(`No record about ${text}`)
    return record
  })

test('secrets of a configuration change are masked everywhere', async () => {
  const about = unique('masked')
  const { inbox, webhook } = await subscribe(['CONFIGURATION_CHANGED'], { about })
  const change = {
    about,
    'SMTP_Pass-word': SECRET,
    nested: [{ clientSecret: { value: SECRET } }, { 'api-key': [SECRET], retention: '30d' }],
  }
  const masked = {
    about,
    'SMTP_Pass-word': '***',
    nested: [{ clientSecret: '***' }, { 'api-key': '***', retention: '30d' }],
  }
  ;(await publish(platformEvent('CONFIGURATION_CHANGED', change))).is(202)

  const { payload } = await inbox.arrival(1)
  expect(payload.data).toEqual(masked)
  const { content } = await listDeliveries(webhook)
  expect(content.map(delivery => delivery.payload?.data)).toContainEqual(masked)
  expect(await streamedAbout(about)).toMatchObject({ data: masked })
  const record = await auditedAbout(about)
  expect(record.details.after).toMatchObject({ data: masked })
})

test('keys of other platform events are not masked', async () => {
  const about = unique('open')
  const { inbox } = await subscribe(['SUBSCRIPTION_CREATED'], { about })
  ;(await publish(platformEvent('SUBSCRIPTION_CREATED', { about, token: 'shown' }))).is(202)
  const { payload } = await inbox.arrival(1)
  expect(payload.data).toEqual({ about, token: 'shown' })
})
