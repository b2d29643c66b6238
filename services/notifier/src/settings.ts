import { duration, durations, writtenDuration } from '@gantry/service-kit'
import { z } from 'zod'
import { cidrs } from './sending/address.ts'

const DAY_MS = 86_400_000

const settings = z.object({
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
  /** How long the bus keeps messages, which the notifier sees to; for ever if it is not said. */
  MESSAGE_RETENTION: duration
    .refine(ms => ms <= 3_650 * DAY_MS, { error: 'must be at most 3650d' })
    .optional(),
})

/**
 * Refuses settings by which messages are removed while their events may still be delivered or recovered. To be added to
 * every schema that these settings are part of.
 */
export function checkRetention({ value, issues }: z.core.ParsePayload<z.infer<typeof settings>>): void {
  const { WEBHOOK_RETENTION, MESSAGE_RETENTION = Number.POSITIVE_INFINITY } = value
  if (MESSAGE_RETENTION >= WEBHOOK_RETENTION) return
  issues.push({
    code: 'custom',
    input: value,
    path: ['MESSAGE_RETENTION'],
    message: `must not be shorter than WEBHOOK_RETENTION, which is ${writtenDuration(WEBHOOK_RETENTION)}`,
  })
}

/** What the notifier reads of the environment. */
export const notifierSettings = settings.check(checkRetention)
export type NotifierSettings = z.infer<typeof notifierSettings>
