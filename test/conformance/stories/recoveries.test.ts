import { describe, expect, test } from 'vitest'
import { admin, eventually, unique } from '../src/gantry.ts'
import { happen } from '../src/platform-events.ts'
import type { Page, Recovery, Webhook } from '../src/records.ts'
import { changeWebhook, deliveryAbout, subscribe } from '../src/webhooks.ts'

const HOUR_MS = 3_600_000
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
const recover = ({ id }: Webhook, range: object) => admin.post(`/webhooks/${id}/recover`, range)
const ended = (path: string) =>
  eventually(async () => {
    const recovery = (await admin.get(path)).as<Recovery>(200)
    expect(recovery.status).toBe('COMPLETED')
    return recovery
  })

/** A webhook that was inactive during an event. */
const skipped = async (type: string) => {
  const about = unique('event')
  const { webhook, inbox } = await subscribe([type], { about })
  const witness = await subscribe([type], { about })
  const began = ago(1_000)
  await changeWebhook(webhook, { active: false })
  await happen(type, about)
  await witness.inbox.arrival(1)
  await changeWebhook(webhook, { active: true })
  return { webhook, inbox, about, began }
}

describe.concurrent('a recovery', () => {
  test('delivers the events that were skipped while the webhook was inactive, once under an Idempotency-Key', async () => {
    const { webhook, inbox, about, began } = await skipped('APPROVAL_REQUEST_DECIDED')
    const dry = await admin.post(`/webhooks/${webhook.id}/recover?dryRun=true`, { from: began })
    const { examined, toSend } = dry.as<{ examined: number; toSend: number }>(200)
    expect(toSend).toBeGreaterThanOrEqual(1)
    expect(examined).toBeGreaterThanOrEqual(toSend)
    const asked = await recover(webhook, { from: began })
    const { id } = asked.as<Recovery>(202)
    const path = `/webhooks/${webhook.id}/recoveries/${id}`
    expect(asked.headers.get('location')).toContain(path)
    await inbox.arrival(1)
    const recovery = await ended(path)
    expect(recovery).toMatchObject({
      webhook: webhook.id,
      from: began,
      progress: 1,
      total: recovery.examined,
    })
    expect(recovery.recovered).toBeGreaterThanOrEqual(1)
    const delivery = await deliveryAbout(webhook, about)
    expect(delivery.attemptLog[0]).toMatchObject({ trigger: 'RECOVERY' })

    const headers = { 'idempotency-key': unique('key') }
    const range = { from: began, to: ago(0) }
    const repeated = () => admin.post(`/webhooks/${webhook.id}/recover`, range, { headers })
    const again = (await repeated()).as<Recovery>(202)
    expect((await repeated()).as<Recovery>(202)).toEqual(again)
    const second = await ended(`/webhooks/${webhook.id}/recoveries/${again.id}`)
    expect(second.recovered).toBe(0)
    expect(inbox.received).toHaveLength(1)
    const { content } = (await admin.get(`/webhooks/${webhook.id}/recoveries`)).as<Page<Recovery>>(200)
    expect(content.map(each => each.id)).toEqual([again.id, id])
  })

  test('is refused while another one of its webhook runs', async () => {
    const { webhook } = await subscribe(['APPROVAL_REQUEST_DECIDED'])
    const path = `/webhooks/${webhook.id}/recoveries`
    // The first recovery may complete before the second request.
    await eventually(async () => {
      const asked = await Promise.all([1, 2].map(() => recover(webhook, { from: ago(HOUR_MS) })))
      expect(asked.map(({ status }) => status).toSorted()).toEqual([202, 409])
      asked.find(({ status }) => status === 409)?.refused(409, 'recovery-running')
      const { content } = (await admin.get(path)).as<Page<Recovery>>(200)
      for (const { id } of content) await admin.post(`${path}/${id}/cancel`)
    })
  })

  test('can be cancelled while it runs, and not afterwards', async () => {
    const { webhook } = await subscribe(['APPROVAL_REQUEST_DECIDED'])
    // A recovery may complete before it is cancelled.
    const path = await eventually(async () => {
      const { id } = (await recover(webhook, { from: ago(HOUR_MS) })).as<Recovery>(202)
      const running = `/webhooks/${webhook.id}/recoveries/${id}`
      expect((await admin.post(`${running}/cancel`)).as<Recovery>(200).status).toBe('CANCELLED')
      return running
    })
    ;(await admin.post(`${path}/cancel`)).refused(409)
    expect((await admin.get(path)).as<Recovery>(200)).toMatchObject({ status: 'CANCELLED' })
  })

  test('needs an active webhook and a time range in the past', async () => {
    const { webhook } = await subscribe(['APPROVAL_REQUEST_DECIDED'])
    for (const range of [
      {},
      { from: 'yesterday' },
      { from: ago(1_000), to: ago(2_000) },
      { from: ago(1_000), to: ago(-HOUR_MS) },
      { from: '2001-01-01T00:00:00Z' },
    ])
      (await recover(webhook, range)).refused(400)
    await changeWebhook(webhook, { active: false })
    ;(await recover(webhook, { from: ago(1_000) })).refused(409)
  })
})
