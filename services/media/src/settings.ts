import { s3Settings } from '@gantry/s3'

/** Settings that media reads from the environment: those of S3, for BLOB_URL. */
export const mediaSettings = s3Settings
