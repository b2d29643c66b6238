import { z } from 'zod'
import { UserStatus } from '../operations/identity.ts'
import { Role } from '../operations/scopes.ts'

/** Subjects on the bus. */
export const subjects = {
  /** Public events of a service: durable, in the order of its log. */
  events: (service: string, type: string) => `events.${service}.${type}`,
  allEvents: 'events.>',
  /** Request: a public event for a service to handle at once. The same event also arrives later as a durable message. */
  react: (service: string) => `react.${service}`,
  /** CloudEvents of the platform, published by other systems. */
  platformEvents: 'platform.events',
  /** Deployment jobs for deployment agents. */
  deploymentRequested: 'events.catalog.DEPLOYMENT_REQUESTED',
  /** DeploymentReport, published by deployment agents. */
  deploymentReported: 'deployments.reported',
  /** Request: { api }; reply: { exists }. */
  apiExists: 'catalog.api-exists',
  /** Request: a credential; reply: a principal or a problem code. */
  authenticate: 'identity.authenticate',
  /** Request; reply: { position, log }, that of the last event in the log and the identity of the log. */
  logHead: 'identity.log-head',
  /** Request: { user }, an id; reply: UserStanding. */
  userStanding: 'identity.user-standing',
  /** Request: { users }, at most 1,000 ids; reply: UserNames. */
  userNames: 'identity.user-names',
  /** Request over HTTP alone, to each replica of a service; reply: ServiceState. */
  processState: (service: string) => `${service}.process-state`,
  /** Broadcast: cached principals of a user or an access token are invalid, and cached names of the user. */
  principalChanged: 'identity.principal-changed',
  /** Broadcast: the signing keys were rotated or replaced. */
  keysChanged: 'identity.keys-changed',
  /** Broadcast: request counts of a gateway replica, for the rate limits that the replicas share. */
  rateCounts: 'gateway.rate-counts',
  /** Request by an operator: { id, by, compromised, ring? }; reply: { kid, signsFrom, ring? }. */
  rotateKeys: 'identity.rotate-keys',
  /** Requests by an operator: ResealRequest; reply: Resealed. Seals some secrets again, with the first key of ENCRYPTION_KEY. */
  resealIdentity: 'identity.reseal',
  resealNotifier: 'notifier.reseal',
  /**
   * Request by an operator: { fingerprint }, that of the first key, which all secrets are sealed with; reply: { retired }, ids
   * of the keys that are no longer in use.
   */
  retireKeys: 'identity.retire-encryption-keys',
} as const

/** The services with public events: the second part of their subjects. `platform` has those that other systems publish. */
export const EVENT_SERVICES = ['catalog', 'identity', 'media', 'notifier', 'platform'] as const

/** The service that answers requests on a subject. */
export function serviceOf(subject: string): string {
  const [first = '', second = ''] = subject.split('.')
  return first === 'react' ? second : first
}

/** Role and status of a user, as identity knows them. */
export const UserStanding = z.object({
  /** Null when the user does not exist or was deleted. */
  user: z.object({ role: Role, status: UserStatus }).nullable(),
  /** Revision of the user's stream; -1 when the user never existed. */
  revision: z.int(),
})
export type UserStanding = z.infer<typeof UserStanding>

/** Maximum number of users of a request for names. */
export const MAX_NAMED_USERS = 1_000

/** The names of a user, as identity knows them. */
export const UserName = z.object({
  username: z.string(),
  displayName: z.string(),
  /** Whether the user was deleted. The names are their last ones. */
  deleted: z.boolean(),
})
export type UserName = z.infer<typeof UserName>

/** Names by user id. Users who never existed, and those whose personal data are erased, are left out. */
export const UserNames = z.record(z.string(), UserName)
export type UserNames = z.infer<typeof UserNames>

/** Which secrets to seal again: those after the place of the last reply. */
export const ResealRequest = z.object({
  after: z.string().nullable(),
  /** That of the first key of the first reply. A process with another first key seals nothing, and replies with its key. */
  fingerprint: z.string().optional(),
})

export const Resealed = z.object({
  /** The first key of the process that replies. */
  key: z.object({ id: z.string(), fingerprint: z.string() }),
  /** Number of secrets that were checked, and of those that another key had sealed. */
  examined: z.int(),
  resealed: z.int(),
  /** Names of secrets that no key opens, or that could not be read. */
  failed: z.array(z.string()),
  /** Place after which the next request continues; null at the end. */
  next: z.string().nullable(),
})
export type Resealed = z.infer<typeof Resealed>

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
