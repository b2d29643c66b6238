import { Anchor, Breadcrumbs } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** Leads from a page back to its list. */
export function Trail({ to, label }: { to: '/users' | '/tokens'; label: string }) {
  return (
    <nav aria-label="Back">
      <Breadcrumbs>
        <Anchor component={Link} to={to} size="sm">
          {label}
        </Anchor>
        <span />
      </Breadcrumbs>
    </nav>
  )
}
