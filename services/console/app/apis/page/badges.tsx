import { Badge, type MantineColor } from '@mantine/core'
import type { Schemas } from '../../http/schemas.ts'

type Status = Schemas['Version']['status'] | Schemas['Api']['deploymentStatus']

const LOOKS: Readonly<Record<Status, readonly [label: string, color: MantineColor]>> = {
  ACTIVE: ['Active', 'teal'],
  INACTIVE: ['Inactive', 'gray'],
  DEVELOPMENT: ['In development', 'blue'],
  DEPRECATED: ['Deprecated', 'yellow'],
  RETIRED: ['Retired', 'gray'],
  CREATED: ['Never deployed', 'gray'],
  DEPLOYMENT_IN_PROGRESS: ['Deployment in progress', 'blue'],
  DEPLOYED: ['Deployed', 'teal'],
  DEPLOYMENT_FAILED: ['Deployment failed', 'red'],
  UNDEPLOYED: ['Undeployed', 'gray'],
}

/** A status of an API, of a version or of deployments, as a word with a colour. */
export function StatusBadge({ status }: { status: Status }) {
  const [label, color] = LOOKS[status] ?? [status, 'gray']
  return (
    <Badge variant="dot" color={color} tt="none" style={{ flexShrink: 0 }}>
      {label}
    </Badge>
  )
}
