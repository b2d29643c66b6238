import { duration, whole } from '@gantry/service-kit'
import { z } from 'zod'

const DAY_MS = 86_400_000

/** What the catalog reads of the environment. */
export const catalogSettings = z.object({
  /** For how long a deployment job waits for the report of its agent before it ends as failed. */
  DEPLOYMENT_TIMEOUT: duration
    .refine(ms => ms >= 1_000 && ms <= 30 * DAY_MS, { error: 'must be from 1s to 30d' })
    .default(3_600_000),
  /** Versions that an API may have; 0 for any number. */
  MAX_VERSIONS_PER_API: whole(0, 1_000_000).default(0),
})
export type CatalogSettings = z.infer<typeof catalogSettings>
