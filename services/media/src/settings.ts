import { urlsOfServices } from '@gantry/hosting'
import { s3Settings } from '@gantry/s3'
import { duration, whole } from '@gantry/service-runtime'
import { z } from 'zod'

const DAY_MS = 86_400_000

export const documentSettings = z.object({
  MAX_DOCUMENTS_PER_VERSION: whole(1, 1_000)
    .prefault('20')
    .describe('Maximum documents of a version. A further one is refused with 409 `too-many-documents`.'),
  DOCUMENT_RETENTION: duration
    .refine(ms => ms >= 3_600_000 && ms <= 36_500 * DAY_MS, { error: 'must be from 1h to 36500d' })
    .prefault('365d')
    .describe('How long the bytes of replaced and deleted documents are kept, for requests with `at`.'),
  DOCUMENTS_STRICT: z
    .enum(['true', 'false'])
    .transform(value => value === 'true')
    .prefault('false')
    .describe(
      'Whether documents that violate the schema of their kind are refused, instead of having findings.',
    ),
})
export type DocumentSettings = z.infer<typeof documentSettings>

/** Settings that media reads from the environment: those of documents, and those of S3, for BLOB_URL. */
export const mediaSettings = documentSettings.extend(s3Settings.shape)

/** Its settings as a process of its own. */
export const mediaProcessSettings = mediaSettings.extend(urlsOfServices.pick({ CATALOG_URL: true }).shape)
