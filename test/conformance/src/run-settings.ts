/**
 * What the stories need of the service that they run against: no limits in their way but one on bodies that a story
 * reaches, a receiver on this machine, retries that end within a story, and logs that say all they can, in which no secret
 * may be.
 */
export const RUN_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '0',
  LOGIN_LIMIT_PER_MINUTE: '0',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  BODY_MEMORY: '32MiB',
  WEBHOOK_RETRY_SCHEDULE: '200ms,400ms',
  LOG_LEVEL: 'trace',
}
