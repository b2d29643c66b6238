import { publicUrl } from './url.ts'
import { beginsToFail, type LiveWebhook, type WebhookEvent } from './webhook.ts'

const DAY_MS = 86_400_000
/** For how long nothing has arrived when the owner is warned, each time. */
const WARNINGS_MS = [DAY_MS, 3 * DAY_MS]
const DISABLED_AFTER_MS = 5 * DAY_MS
/** So few deliveries say little, however long they fail. */
const ENOUGH = 20
/** Nobody is disabled without a warning that long before. */
const NOTICE_MS = DAY_MS
/** A success that ended failures lets no failure count for so long: a webhook that flaps would fill its stream. */
const CALM_MS = DAY_MS

/**
 * What an attempt that failed by the receiver's fault means for its webhook: a warning, or the end, when nothing has
 * arrived for long. A delivery counts once, however many attempts it takes. Of a webhook that fails and succeeds in turns,
 * a day brings at most `ENOUGH` failures and one success.
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
    const reason = `nothing has arrived at ${publicUrl(record.url)} since ${failing.since}: at least ${ENOUGH} deliveries failed`
    return [...counted, { type: 'WebhookDisabled', data: { reason, disabledAt: now } }]
  }
  const warning = WARNINGS_MS.filter(ms => elapsed >= ms).length
  if (warning <= failing.warnings) return counted
  return [
    ...counted,
    { type: 'WebhookFailing', data: { since: failing.since, deliveries, warning, at: now } },
  ]
}
