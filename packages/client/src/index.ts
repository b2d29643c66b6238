export {
  type CallOptions,
  type GantryClient,
  gantryClient,
  type Items,
  logIn,
  type NotModified,
  type Result,
} from './client.ts'
export type { Content } from './content.ts'
export type { FollowOptions, StreamedEvent } from './events.ts'
export {
  type Operations,
  type ProblemCode,
  type Schemas,
  VALUES,
  type WebhookEvent,
} from './operations.generated.ts'
export { ConnectionError, type Problem, ProblemError } from './problem.ts'
export type { ClientOptions } from './transport.ts'
export { type ReceivedWebhook, type VerifiedWebhook, verifyWebhook, WebhookError } from './webhooks.ts'
