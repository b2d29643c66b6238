import { DISABLED_AFTER } from '@gantry/contracts'
import { beginsToFail, type LiveWebhook, type WebhookEvent, withoutSecrets } from './webhook.ts'

const DAY_MS = 86_400_000
/** The owner is warned after each of these times without a successful delivery. */
const WARNINGS_MS = [DAY_MS, 3 * DAY_MS]
/** `ENOUGH` is also the maximum number of failed deliveries that is counted. */
const { ms: DISABLED_AFTER_MS, deliveries: ENOUGH } = DISABLED_AFTER
/** Minimum time between a warning and disabling. */
const NOTICE_MS = DAY_MS
/**
 * Failures within this time after a success that ended failures do not count: a webhook that alternates between success
 * and failure would add events to its stream without limit.
 */
const CALM_MS = DAY_MS

/**
 * Decides on an attempt that failed through the fault of the receiver: counts the delivery, warns the owner, or disables
 * the webhook. A delivery counts once, however many attempts fail. A webhook that alternates between failure and success
 * adds at most `ENOUGH` failures and one success per day.
 */
export function failed(
  { failing: before, succeededAt, record }: LiveWebhook,
  delivery: string,
  now: string,
): WebhookEvent[] {
  const msSince = (time: string) => Date.parse(now) - Date.parse(time)
  if (!before && succeededAt !== null && msSince(succeededAt) < CALM_MS) return []
  const failing = before ?? beginsToFail(now)
  const isNew = failing.deliveries.length < ENOUGH && !failing.deliveries.includes(delivery)
  const counted: WebhookEvent[] = isNew
    ? [{ type: 'WebhookDeliveryFailed', data: { delivery, at: now } }]
    : []
  const deliveries = failing.deliveries.length + counted.length
  const elapsed = msSince(failing.since)

  const warned = failing.warnedAt !== null && msSince(failing.warnedAt) >= NOTICE_MS
  if (elapsed >= DISABLED_AFTER_MS && deliveries >= ENOUGH && warned) {
    const reason = `no delivery to ${withoutSecrets(record.url)} has succeeded since ${failing.since}: at least ${ENOUGH} deliveries failed`
    return [...counted, { type: 'WebhookDisabled', data: { reason, disabledAt: now } }]
  }
  const warning = WARNINGS_MS.filter(ms => elapsed >= ms).length
  if (warning <= failing.warnings) return counted
  return [
    ...counted,
    { type: 'WebhookFailing', data: { since: failing.since, deliveries, warning, at: now } },
  ]
}
