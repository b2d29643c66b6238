/** The records with the fields of the documentation. The contract checks that responses have them. */
export interface Page<Item> {
  content: Item[]
  size: number
  number: number
  totalPages: number
  totalElements: number
  last: boolean
}

export interface Api {
  id: string
  name: string
  displayName: string
  description: string | null
  url: string | null
  status: string
  tags: string[]
  owner: string | null
  platformType: string | null
  gitUrl: string | null
  gitCredential: string | null
  createdAt: string
  updatedAt: string
  hasImage: boolean
  ownerDisplayName: string | null
  deploymentStatus: string
  deployedOn?: { environment: string; deployedAt: string }[]
  runningJobs?: Omit<Job, 'api'>[]
}

export interface Job {
  id: string
  type: string
  api: string
  environment: string
  status: string
  startedAt: string
}

export interface Image {
  contentType: string
  size: number
  width: number
  height: number
  sha256: string
}

export interface Version {
  id: string
  name: string
  displayName: string
  description: string | null
  status: string
  api: string
  createdAt: string
  updatedAt: string
}

export interface User {
  id: string
  username: string
  displayName: string
  email: string | null
  role: string
  status: string
  sso: boolean
}

export interface AccessToken {
  id: string
  name: string
  scopes: string[]
  createdAt: string
  validUntil: string
  lastUsedAt: string | null
  /** Shown at creation only; otherwise null. */
  token?: string | null
}

export interface Webhook {
  id: string
  name: string
  displayName: string
  url: string
  active: boolean
  eventTypes: string[]
  ordered: boolean
  format: 'STANDARD' | 'CLOUDEVENTS_STRUCTURED' | 'CLOUDEVENTS_BATCHED'
  createdAt: string
  updatedAt: string
  disabledReason: string | null
  owner: string | null
  health: {
    attempts: number
    successRate: number | null
    p95LatencyMs: number | null
    consecutiveFailures: number
    failingSince: string | null
    circuit: string
  } | null
  oldSecretValidUntil: string | null
  /** Shown at creation and rotation only; otherwise null. */
  secret?: string | null
}

export interface Payload {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
}

interface Attempt {
  number: number
  trigger: string
  url: string
  startedAt: string
  durationMs: number | null
  responseStatus: number | null
  responseBody: string | null
  requestHeaders: Record<string, string> | null
  responseHeaders: Record<string, string> | null
  error: string | null
  fault: 'RECEIVER' | 'SERVICE' | null
}

export interface Delivery {
  id: string
  webhook: string
  url: string
  eventId: string
  eventType: string
  traceId: string | null
  status: string
  payload: Payload | null
  attempts: number
  createdAt: string
  lastAttemptAt: string | null
  nextAttemptAt: string | null
  waitsFor: string | null
  responseStatus: number | null
  failureMessage: string | null
  attemptLog: Attempt[]
}

export interface Recovery {
  id: string
  webhook: string
  from: string
  to: string
  status: 'RUNNING' | 'COMPLETED' | 'CANCELLED'
  progress: number
  examined: number
  recovered: number
  createdAt: string
  finishedAt: string | null
}

export interface AuditRecord {
  id: string
  timestamp: string
  user: unknown
  action: string
  resourceType: string
  resourceId: string
  details: { before: Record<string, unknown> | null; after: Record<string, unknown> | null }
  requestId: string
}
