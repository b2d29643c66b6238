import { Breadcrumbs, Text } from '@mantine/core'
import { AnchorLink } from './links.tsx'

interface TrailProps {
  to: '/apis' | '/jobs' | '/users' | '/tokens' | '/rule-sets' | '/webhooks'
  /** Name of the list. */
  label: string
  /** The API between the list and the page. */
  api?: { id: string; name: string } | undefined
  /** Name of the page. */
  page: string
}

/** Leads from a page back to its list. */
export function Trail({ to, label, api, page }: TrailProps) {
  return (
    <Breadcrumbs component="nav" aria-label="Breadcrumbs">
      <AnchorLink to={to}>{label}</AnchorLink>
      {api && (
        <AnchorLink to="/apis/$apiId" params={{ apiId: api.id }} truncate maw={{ base: 180, sm: 480 }}>
          {api.name}
        </AnchorLink>
      )}
      <Text truncate maw={{ base: 220, sm: 480 }}>
        {page}
      </Text>
    </Breadcrumbs>
  )
}
