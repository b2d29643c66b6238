import { duration, whole } from '@gantry/service-kit'
import { z } from 'zod'

const DAY_MS = 86_400_000

/** Settings that the catalog reads from the environment. */
export const catalogSettings = z.object({
  /** Time after which a deployment job without a report of its agent fails, 1 s to 30 days. Default: 1 h. */
  DEPLOYMENT_TIMEOUT: duration
    .refine(ms => ms >= 1_000 && ms <= 30 * DAY_MS, { error: 'must be from 1s to 30d' })
    .default(3_600_000),
  /** Maximum number of versions of an API; 0 for no limit. Default: 0. */
  MAX_VERSIONS_PER_API: whole(0, 1_000_000).default(0),
})
export type CatalogSettings = z.infer<typeof catalogSettings>
