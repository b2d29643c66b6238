import { urlsOfServices } from '@gantry/hosting'
import { s3Settings } from '@gantry/s3'

/** Settings that media reads from the environment: those of S3, for BLOB_URL. */
export const mediaSettings = s3Settings

/** Its settings as a process of its own. */
export const mediaProcessSettings = mediaSettings.extend(urlsOfServices.pick({ CATALOG_URL: true }).shape)
