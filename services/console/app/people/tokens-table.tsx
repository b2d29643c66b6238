import { Badge, Box, Button, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import { useState } from 'react'
import type { Schemas } from '../http/schemas.ts'
import { SortHeader } from '../parts/sort-header.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { Time } from '../parts/time.tsx'
import { RevokeTokenDialog } from './revoke-token-dialog.tsx'
import { scopeText } from './scopes.ts'
import { expiryOf } from './token-expiry.ts'

interface TokensTableProps {
  tokens: readonly Schemas['AccessToken'][]
  sort: string
  onSort: (sort: string) => void
  /** Id of the user who has them; absent for those of the person who is signed in. */
  owner?: string
  revocable?: boolean
}

export function TokensTable({ tokens, sort, onSort, owner, revocable = true }: TokensTableProps) {
  const [revoked, setRevoked] = useState<Schemas['AccessToken']>()
  const sorting = { sort, onSort }
  return (
    <>
      <Table.ScrollContainer minWidth={0}>
        <Table verticalSpacing="sm" aria-label="Access tokens">
          <Table.Thead>
            <Table.Tr>
              <SortHeader field="name" {...sorting}>
                Name
              </SortHeader>
              <Table.Th visibleFrom="sm">Scopes</Table.Th>
              <SortHeader field="createdAt" visibleFrom="md" {...sorting}>
                Created
              </SortHeader>
              <Table.Th visibleFrom="sm">Last used</Table.Th>
              <SortHeader field="validUntil" visibleFrom="sm" {...sorting}>
                Expires
              </SortHeader>
              <Table.Th>
                <VisuallyHidden>Action</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {tokens.map(token => (
              <TokenRow
                key={token.id}
                token={token}
                onRevoke={revocable ? () => setRevoked(token) : undefined}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {revoked && <RevokeTokenDialog token={revoked} owner={owner} onClose={() => setRevoked(undefined)} />}
    </>
  )
}

function TokenRow({
  token,
  onRevoke,
}: {
  token: Schemas['AccessToken']
  onRevoke: (() => void) | undefined
}) {
  const used = token.lastUsedAt ? <Time at={token.lastUsedAt} /> : 'never used'
  return (
    <Table.Tr>
      <Table.Th scope="row" miw="7rem" style={{ overflowWrap: 'anywhere' }}>
        {token.name}
        <Text size="xs" hiddenFrom="sm">
          {used}, {expiryOf(token) === 'expired' ? 'expired' : 'expires'} <Time at={token.validUntil} />
        </Text>
        <Box hiddenFrom="sm" mt={4}>
          <Scopes scopes={token.scopes} />
        </Box>
      </Table.Th>
      <Table.Td maw={420} visibleFrom="sm">
        <Scopes scopes={token.scopes} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Time at={token.createdAt} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{used}</Table.Td>
      <Table.Td visibleFrom="sm">
        <Expiry token={token} />
      </Table.Td>
      <Table.Td ta="end">
        {onRevoke && (
          <Button size="compact-sm" variant="default" onClick={onRevoke} aria-label={`Revoke ${token.name}`}>
            Revoke
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

/** As many scopes as have room in some three lines. */
const SHOWN_SCOPES = 6

function Scopes({ scopes }: Pick<Schemas['AccessToken'], 'scopes'>) {
  const [all, setAll] = useState(false)
  return (
    <Group gap={4}>
      {(all ? scopes : scopes.slice(0, SHOWN_SCOPES)).map(scope => (
        <Badge key={scope} size="sm" miw="max-content" title={scopeText(scope)}>
          {scope}
        </Badge>
      ))}
      {scopes.length > SHOWN_SCOPES && (
        <Button variant="subtle" size="compact-xs" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${scopes.length} scopes`}
        </Button>
      )}
    </Group>
  )
}

function Expiry({ token }: { token: Schemas['AccessToken'] }) {
  const expiry = expiryOf(token)
  if (expiry === 'valid') return <Time at={token.validUntil} />
  return (
    <StateBadge color={expiry === 'soon' ? 'orange' : 'red'}>
      {expiry === 'soon' ? 'Expires' : 'Expired'} <Time at={token.validUntil} />
    </StateBadge>
  )
}
