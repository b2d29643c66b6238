import { duration, durations } from '@gantry/service-kit'
import { z } from 'zod'
import { cidrs } from './sending/address.ts'

const DAY_MS = 86_400_000

/** What the notifier reads of the environment. */
export const notifierSettings = z.object({
  /** One deadline for an attempt: name lookup, connection, TLS, answer and its body. */
  WEBHOOK_TIMEOUT: duration
    .refine(ms => ms >= 10 && ms <= 300_000, { error: 'must be from 10ms to 5m' })
    .default(15_000),
  /** Pauses before the attempts after the first; when they are used up, the delivery is given up. */
  WEBHOOK_RETRY_SCHEDULE: durations
    .refine(list => list.length <= 100, { error: 'must have at most 100 pauses' })
    .refine(list => list.every(ms => ms <= 30 * DAY_MS), { error: 'must have no pause over 30d' })
    // Standard Webhooks, "Deliverability and reliability", then daily until the tenth day.
    .prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h,24h,24h,24h,24h,24h,24h'),
  /** Attempts that one webhook gets in a second at most; 0 for as many as there are. */
  WEBHOOK_RATE_PER_SECOND: z.coerce.number().int().min(0).max(100_000).default(0),
  /** Private addresses that webhooks may reach all the same. */
  WEBHOOK_ALLOWED_CIDRS: cidrs.default([]),
  /** How long finished deliveries are kept before they are erased, and how old an event may be to be delivered. */
  WEBHOOK_RETENTION: duration
    .refine(ms => ms >= 60_000 && ms <= 3_650 * DAY_MS, { error: 'must be from 1m to 3650d' })
    .default(30 * DAY_MS),
})
export type NotifierSettings = z.infer<typeof notifierSettings>
