import { z } from 'zod'

export const subjects = {
  /** Public events of a service: durable, in the order of its log. */
  events: (service: string, type: string) => `events.${service}.${type}`,
  allEvents: 'events.>',
  /** CloudEvents of the platform, published by other systems. */
  platformEvents: 'platform.events',
  /** Deployment jobs for deployment agents. */
  deploymentRequested: 'events.catalog.DEPLOYMENT_REQUESTED',
  /** DeploymentReport, published by deployment agents. */
  deploymentReported: 'deployments.reported',
  /** Broadcast: cached principals of a user or an access token are invalid, and cached names of the user. */
  principalChanged: 'identity.principal-changed',
  /** Broadcast: the signing keys were rotated or replaced. */
  keysChanged: 'identity.keys-changed',
  /** Broadcast: request counts of a gateway replica, for the rate limits that the replicas share. */
  rateCounts: 'gateway.rate-counts',
} as const

/** The services with public events: the second part of their subjects. `platform` has those that other systems publish. */
export const EVENT_SERVICES = ['catalog', 'identity', 'media', 'notifier', 'platform'] as const

/** The report of a deployment agent on a job: the data of a message on `deployments.reported`. */
export const DeploymentReport = z
  .object({
    job: z.uuid(),
    api: z.uuid(),
    environment: z.uuid(),
    outcome: z.enum(['SUCCEEDED', 'FAILED']),
    message: z.string().max(2000).nullish(),
  })
  .meta({ id: 'DeploymentReport' })
export type DeploymentReport = z.infer<typeof DeploymentReport>

/** The categories of all streams of the services. Events in other streams of the log are of other applications. */
export const STREAM_CATEGORIES: ReadonlySet<string> = new Set([
  'access',
  'administrators',
  'api',
  'apiname',
  'auditkey',
  'auditpush',
  'auditroot',
  'delivery',
  'documents',
  'encryptionkey',
  'environment',
  'environmentname',
  'heldmessages',
  'image',
  'job',
  'jobinput',
  'knownuser',
  'log',
  'logins',
  'payload',
  'platformevent',
  'reactor',
  'readmodel',
  'recovery',
  'recoveryname',
  'ruleset',
  'signingkey',
  'token',
  'user',
  'username',
  'webhook',
])
