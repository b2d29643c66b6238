import { Badge } from '@mantine/core'
import { lookOf, type Status } from '../statuses.ts'

/** A status of an API, of a version or of deployments, as a word with a colour. */
export function StatusBadge({ status }: { status: Status }) {
  const [label, color] = lookOf(status)
  return (
    <Badge variant="dot" color={color} tt="none" style={{ flexShrink: 0 }}>
      {label}
    </Badge>
  )
}
