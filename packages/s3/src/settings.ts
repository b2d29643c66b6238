import { z } from 'zod'

const secret = (description: string) => z.string().optional().meta({ description, secret: true })

/** How a bucket is reached: the variables of the AWS SDK, as settings, which can also be in files. */
export const s3Settings = z.object({
  AWS_ENDPOINT_URL_S3: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe('Address of an S3 store other than that of AWS.'),
  AWS_REGION: z.string().optional().describe('Region of the bucket.'),
  AWS_ACCESS_KEY_ID: secret(
    'Credentials for S3. Without a key, the AWS SDK looks for a role, e.g. of the pod (IRSA); half of a key is refused at the ' +
      'start.',
  ),
  AWS_SECRET_ACCESS_KEY: secret('The secret of this key.'),
  AWS_SESSION_TOKEN: secret('The session of this key, if it is temporary.'),
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
