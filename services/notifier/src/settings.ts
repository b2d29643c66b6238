import { duration, durations, publicUrl, shutdownTimeout, whole } from '@gantry/service-kit'
import { z } from 'zod'
import { cidrs } from './http/address.ts'

const DAY_MS = 86_400_000

/** The settings of the notifier. */
export const notifierSettings = z.object({
  /** Timeout of an attempt: name lookup, connection, TLS, and the response with its body. Default: 15s. */
  WEBHOOK_TIMEOUT: duration
    .refine(ms => ms >= 10 && ms <= 300_000, { error: 'must be from 10ms to 5m' })
    .default(15_000),
  /** Pauses before the retries; after the last one the delivery is given up. */
  WEBHOOK_RETRY_SCHEDULE: durations
    .refine(list => list.length <= 100, { error: 'must have at most 100 pauses' })
    .refine(list => list.every(ms => ms <= 30 * DAY_MS), { error: 'must have no pause over 30d' })
    // Standard Webhooks, "Deliverability and reliability", then daily until the tenth day.
    .prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h,24h,24h,24h,24h,24h,24h'),
  /** Maximum rate of attempts to one webhook, per second; 0 means no limit. Default: 0. */
  WEBHOOK_RATE_PER_SECOND: z.coerce.number().int().min(0).max(100_000).default(0),
  /** Address ranges that webhooks may reach although they are not public. Default: none. */
  WEBHOOK_ALLOWED_CIDRS: cidrs.default([]),
  /** How long finished deliveries are kept, and the maximum age of an event that is delivered. Default: 30d. */
  WEBHOOK_RETENTION: duration
    .refine(ms => ms >= 60_000 && ms <= 3_650 * DAY_MS, { error: 'must be from 1m to 3650d' })
    .default(30 * DAY_MS),
  /** The address of the service for its clients, for links to the schemas of events. Default: no links. */
  PUBLIC_URL: publicUrl.optional(),
  /** How long the bus keeps messages; the notifier configures it. Default: without limit. */
  MESSAGE_RETENTION: duration
    .refine(ms => ms <= 3_650 * DAY_MS, { error: 'must be at most 3650d' })
    .optional(),
  /** Part of it is for running attempts: see `delivering`. */
  SHUTDOWN_TIMEOUT: shutdownTimeout,
  /** Number of NATS servers that keep the messages; the notifier configures it. Default: as the stream has it, a new one 1. */
  MESSAGING_REPLICAS: whole(1, 5).optional(),
})

export type NotifierSettings = z.infer<typeof notifierSettings>
