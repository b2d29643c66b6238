import { DeploymentReport, PublicEvent, Refusal, subjects } from '@gantry/contracts'
import type { CommandMetadata, Log } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { z } from 'zod'
import type { ApiAggregate } from './api/api.decide.ts'

/** The subject of each consumer. One subject per consumer lets the message server restrict each consumer to it. */
export const reactsTo = {
  'catalog-media': subjects.events('media', '*'),
  'catalog-platform': subjects.events('platform', '*'),
  'catalog-deployments': subjects.deploymentReported,
}

export interface ReactionOptions {
  api: ApiAggregate
  now(): Date
  newId(): string
  log: Log
}

/** @throws Refusal when the message does not match the schema, so that the reactor skips it instead of trying again */
function read<Schema extends z.ZodType>(schema: Schema, { data }: Message): z.infer<Schema> {
  const parsed = schema.safeParse(data)
  if (!parsed.success) throw new Refusal('invalid-request', { detail: z.prettifyError(parsed.error) })
  return parsed.data
}

/** Turns messages of other services into commands. A message that was handled before changes nothing. */
export function reactionsOf({ api, now, newId, log }: ReactionOptions): (message: Message) => Promise<void> {
  const at = () => now().toISOString()

  return async message => {
    if (message.subject === subjects.deploymentReported) {
      const report = read(DeploymentReport, message)
      const metadata: CommandMetadata = {
        commandId: newId(),
        now: at(),
        actor: { id: null, name: 'deployment agent' },
        requestId: message.id,
        causationId: message.id,
      }
      const { events } = await api.execute(report.api, { type: 'ReportDeployment', metadata, report })
      if (events.length === 0) {
        const { job, api, environment, outcome } = report
        log.warn(
          { job, api, environment, outcome },
          'a deployment report changes nothing: its job is not running',
        )
      }
      return
    }
    const event = read(PublicEvent, message)
    const metadata: CommandMetadata = {
      commandId: newId(),
      now: at(),
      actor: event.actor,
      requestId: event.requestId,
      causationId: event.id,
      ...(message.headers?.traceparent && { traceparent: message.headers.traceparent }),
    }
    switch (event.type) {
      case 'API_IMAGE_UPDATED':
        await api.execute(event.subject, { type: 'AttachImage', metadata, imageRevision: event.revision })
        return
      case 'API_IMAGE_DELETED':
        await api.execute(event.subject, { type: 'DetachImage', metadata, imageRevision: event.revision })
        return
      case 'PRODUCT_API_ADDED':
      case 'PRODUCT_API_REMOVED': {
        const { product, api: member } = event.data as { product: string; api: string }
        const type = event.type === 'PRODUCT_API_ADDED' ? 'JoinProduct' : 'LeaveProduct'
        await api.execute(member.toLowerCase(), {
          type,
          metadata,
          product: product.toLowerCase(),
          at: event.time,
        })
        return
      }
    }
  }
}
