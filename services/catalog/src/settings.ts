import { urlsOfServices } from '@gantry/hosting'
import { duration, whole } from '@gantry/service-runtime'
import { z } from 'zod'

const DAY_MS = 86_400_000

export const catalogSettings = z.object({
  DEPLOYMENT_TIMEOUT: duration
    .refine(ms => ms >= 1_000 && ms <= 30 * DAY_MS, { error: 'must be from 1s to 30d' })
    .prefault('1h')
    .describe(
      'Time without a report after which a deployment job ends as failed, from 1s to 30d; choose it longer than any ' +
        'deployment takes.',
    ),
  MAX_VERSIONS_PER_API: whole(0, 1_000_000)
    .prefault('0')
    .describe(
      'Maximum versions of an API; 0 for no limit. A further one is refused with 409 `too-many-versions`.',
    ),
})
export type CatalogSettings = z.infer<typeof catalogSettings>

/** Its settings as a process of its own. */
export const catalogProcessSettings = catalogSettings.extend(
  urlsOfServices.pick({ IDENTITY_URL: true, MEDIA_URL: true, NOTIFIER_URL: true }).shape,
)
