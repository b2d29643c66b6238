import type { Schemas } from '../http/schemas.ts'
import { StateBadge } from './state-badge.tsx'

/** A status of an API, of a version or of deployments. */
export type Status = Schemas['Version']['status'] | Schemas['Api']['deploymentStatus']

type Look = readonly [label: string, color: string]

const LOOKS: Readonly<Record<Status, Look>> = {
  ACTIVE: ['Active', 'teal'],
  INACTIVE: ['Inactive', 'gray'],
  DEVELOPMENT: ['In development', 'blue'],
  DEPRECATED: ['Deprecated', 'orange'],
  RETIRED: ['Retired', 'gray'],
  CREATED: ['Not deployed', 'gray'],
  DEPLOYMENT_IN_PROGRESS: ['Deploying', 'blue'],
  DEPLOYED: ['Deployed', 'teal'],
  DEPLOYMENT_FAILED: ['Deployment failed', 'red'],
  UNDEPLOYED: ['Not deployed', 'gray'],
}

/** A status in words. Those that the console does not know keep their names. */
export const statusText = (status: string): string => LOOKS[status as Status]?.[0] ?? status

/** A status as a badge. */
export const StatusBadge = ({ status }: { status: Status }) => (
  <StateBadge color={LOOKS[status]?.[1] ?? 'gray'}>{statusText(status)}</StateBadge>
)
