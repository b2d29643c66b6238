import { z } from 'zod'

/** How a bucket is reached: the variables of the AWS SDK, as settings, which can also be in files. */
export const s3Settings = z.object({
  /** Address of an S3 store other than that of AWS. */
  AWS_ENDPOINT_URL_S3: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  AWS_REGION: z.string().optional(),
  /** Without a key the AWS SDK looks for a role, e.g. of the pod or of the machine. */
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
})
export type S3Settings = z.infer<typeof s3Settings>

/**
 * The settings as configuration of the client. Buckets of stores other than AWS are addressed by path.
 * @throws Error naming the settings when half of a key is set
 */
export function clientConfig(settings: S3Settings) {
  const { AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: region } = settings
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = settings
  const { AWS_SESSION_TOKEN: sessionToken } = settings
  if (Boolean(accessKeyId) !== Boolean(secretAccessKey))
    throw new Error('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: set both, or neither to use a role')
  return {
    ...(endpoint && { endpoint, forcePathStyle: true }),
    ...(region && { region }),
    ...(accessKeyId &&
      secretAccessKey && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
      }),
  }
}
