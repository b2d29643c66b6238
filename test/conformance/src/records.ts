import type {
  AccessTokenRecord,
  ApiRecord,
  AuditRecord as AuditRecordOf,
  DeliveryRecord,
  Job as DeploymentJobRecord,
  ImageRecord,
  JobRecord,
  JobResult as JobResultRecord,
  RecoveryRecord,
  RuleSetRecord,
  UserRecord,
  VersionRecord,
  WebhookRecord,
} from '@gantry/contracts'

/** The type with any string in place of enumerated ones. The document decides which values are valid. */
type Loose<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Loose<Item>[]
    : T extends object
      ? { [Key in keyof T]: Loose<T[Key]> }
      : T

export type Api = Loose<ApiRecord>
export type DeploymentJob = Loose<DeploymentJobRecord>
export type Job = Loose<JobRecord>
export type RuleSet = Loose<RuleSetRecord>
export type JobResult = Loose<JobResultRecord>
export type Image = Loose<ImageRecord>
export type Version = Loose<VersionRecord>
export type User = Loose<UserRecord>
/** The token is shown at creation only. */
export type AccessToken = Loose<AccessTokenRecord> & { token?: string | null }
/** The secret is shown at creation and rotation only. */
export type Webhook = Loose<WebhookRecord> & { secret?: string | null }
export type Delivery = Loose<Omit<DeliveryRecord, 'payload'>> & { payload: Payload | null }
export type Recovery = Loose<RecoveryRecord>
export type AuditRecord = Loose<AuditRecordOf>

export interface Page<Item> {
  content: Item[]
  size: number
  number: number
  totalPages: number
  totalElements: number
  last: boolean
}

/** The body of a request to a webhook in the standard format. */
export interface Payload {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
}
