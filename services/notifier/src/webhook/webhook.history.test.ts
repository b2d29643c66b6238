import { join } from 'node:path'
import { PeriodProjection } from '@gantry/event-sourcing'
import { frozenStreams, inMemoryLog } from '@gantry/event-sourcing/testing'
import type { HistoryDocument } from '@gantry/service-kit'
import { applyPatch, type Operation } from 'rfc6902'
import { expect, test } from 'vitest'
import { webhookDecider } from './webhook.decide.ts'
import { projectWebhookHistory, webhookHistory } from './webhook.history.ts'
import { projectWebhookPeriods, type RevisedWebhook, webhookPeriods } from './webhook.projection.ts'

const { streams } = frozenStreams(join(import.meta.dirname, '../frozen'), 'webhook')

test.for(streams)('the patches of frozen stream %# lead to its record, without secrets', async stream => {
  const projection = new PeriodProjection({
    eventStore: inMemoryLog().connect(),
    category: 'webhook',
    decider: webhookDecider([]),
    project: projectWebhookPeriods,
    changed: projectWebhookHistory,
  })
  const { writes } = await projection.writes(stream, false)
  const documents = (collection: unknown) =>
    writes.filter(write => write.collection === collection).map(({ doc }) => doc)
  const changes = documents(webhookHistory) as HistoryDocument[]
  const record: object = {}
  for (const { changes: patch } of changes)
    expect(applyPatch(record, structuredClone(patch) as Operation[]).filter(Boolean)).toEqual([])

  const last = documents(webhookPeriods).at(-1) as unknown as RevisedWebhook & Record<string, unknown>
  const { recordRevision, resource, validFrom, validTo, ...shown } = last
  const isDeleted = changes.at(-1)?.operation === 'WEBHOOK_DELETED'
  expect(record).toEqual(isDeleted ? {} : { ...shown, id: resource })
  expect(JSON.stringify(changes)).not.toMatch(/secrets?"|sealed/)
  expect(changes.map(({ operation }) => operation)).toEqual(
    stream.flatMap(({ metadata }) => metadata.change?.action ?? []),
  )
})
