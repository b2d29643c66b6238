import { Breadcrumbs } from '@mantine/core'
import { AnchorLink } from './links.tsx'

/** Leads from a page back to its list. */
export function Trail({ to, label }: { to: '/users' | '/tokens' | '/rule-sets'; label: string }) {
  return (
    <nav aria-label="Back">
      <Breadcrumbs>
        <AnchorLink to={to} size="sm">
          {label}
        </AnchorLink>
        <span />
      </Breadcrumbs>
    </nav>
  )
}
