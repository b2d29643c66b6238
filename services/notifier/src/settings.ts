import { RETRY_SCHEDULE } from '@gantry/contracts'
import { urlsOfServices } from '@gantry/hosting'
import { duration, durations, publicUrl, shutdownTimeout, whole } from '@gantry/service-runtime'
import { z } from 'zod'
import { cidrs } from './http/address.ts'

const DAY_MS = 86_400_000

export const notifierSettings = z.object({
  WEBHOOK_TIMEOUT: duration
    .refine(ms => ms >= 10 && ms <= 300_000, { error: 'must be from 10ms to 5m' })
    .prefault('15s')
    .describe('Maximum duration of an attempt, from 10ms to 5m.'),
  WEBHOOK_RETRY_SCHEDULE: durations
    .refine(list => list.length <= 100, { error: 'must have at most 100 pauses' })
    .refine(list => list.every(ms => ms <= 30 * DAY_MS), { error: 'must have no pause over 30d' })
    .prefault(RETRY_SCHEDULE)
    .describe('Pauses before the attempts after the first; after the last one the delivery is given up.'),
  WEBHOOK_RATE_PER_SECOND: whole(0, 100_000)
    .prefault('0')
    .describe('Maximum attempts per second to one webhook; 0 for no limit.'),
  MAX_WEBHOOKS_PER_OWNER: whole(0, 1_000_000)
    .prefault('100')
    .describe(
      'Maximum webhooks of a user; 0 for no limit. A further one is refused with 409 `too-many-webhooks`. The same in every ' +
        'replica.',
    ),
  WEBHOOK_ALLOWED_CIDRS: cidrs
    .default([])
    .describe('Private networks that webhooks may reach, separated by commas.'),
  WEBHOOK_RETENTION: duration
    .refine(ms => ms >= 60_000 && ms <= 3_650 * DAY_MS, { error: 'must be from 1m to 3650d' })
    .prefault('30d')
    .describe(
      'How long finished deliveries are kept, and the maximum age of an event that is delivered; choose it longer than the ' +
        'notifier is ever down.',
    ),
  PUBLIC_URL: publicUrl.optional().describe('As in the gateway, for webhooks that receive CloudEvents.'),
  MESSAGE_RETENTION: duration
    .refine(ms => ms <= 3_650 * DAY_MS, { error: 'must be at most 3650d' })
    .optional()
    .meta({
      description:
        'How long messages are kept, and how far `GET /events` goes back; not shorter than `WEBHOOK_RETENTION`. The setting ' +
        'becomes the `max-age` of the stream on NATS, which stays when the setting is removed.',
      shown: 'none: for ever',
    }),
  /** Part of it is for running attempts: see `delivering`. */
  SHUTDOWN_TIMEOUT: shutdownTimeout,
  MESSAGING_REPLICAS: whole(1, 5).optional().meta({
    description: 'Number of NATS servers that keep each message, 1 to 5; 3 for a cluster of three.',
    shown: 'none: as the stream has it, 1 for a new one',
  }),
})

export type NotifierSettings = z.infer<typeof notifierSettings>

/** Its settings as a process of its own. */
export const notifierProcessSettings = notifierSettings.extend(
  urlsOfServices.pick({ CATALOG_URL: true, IDENTITY_URL: true }).shape,
)
