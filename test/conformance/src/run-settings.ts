/**
 * The settings that the stories need: no rate limits, a limit of body memory that a story can reach, webhooks to this
 * machine, retries that end within a story, and complete logs, which are searched for secrets.
 */
export const RUN_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '0',
  LOGIN_LIMIT_PER_MINUTE: '0',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  BODY_MEMORY: '32MiB',
  WEBHOOK_RETRY_SCHEDULE: '200ms,400ms',
  LOG_LEVEL: 'trace',
}
