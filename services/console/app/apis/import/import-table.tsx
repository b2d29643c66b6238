import { CloseButton, Loader, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { Problem } from '../../parts/job-view.tsx'
import { AnchorLink } from '../../parts/links.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { type Change, changesOf, type Outcome } from './requests.ts'
import type { Item } from './use-import.ts'

interface ImportTableProps {
  items: readonly Item[]
  /** Absent while documents are imported. */
  onRemove: ((id: string) => void) | undefined
}

/** The documents, each with what its import would do, or has done. */
export function ImportTable({ items, onRemove }: ImportTableProps) {
  const changes = changesOf(items)
  return (
    <Table aria-label="Documents" verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Document</Table.Th>
          <Table.Th>What happens</Table.Th>
          <Table.Th>
            <VisuallyHidden>Action</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map(item => (
          <Table.Tr key={item.id}>
            <Table.Th scope="row" fw={400} maw={240} style={{ overflowWrap: 'anywhere' }}>
              {item.name}
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <State item={item} change={changes.get(item.id)} />
            </Table.Td>
            <Table.Td>
              {onRemove && item.state !== 'done' && (
                <CloseButton aria-label={`Remove ${item.name}`} onClick={() => onRemove(item.id)} />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function State({ item: { state, outcome, reason }, change }: { item: Item; change: Change | undefined }) {
  if (state === 'refused')
    return (
      <Stack gap={2} align="start">
        <StateBadge color="red">Refused</StateBadge>
        {reason && <Problem {...reason} />}
      </Stack>
    )
  if (!outcome) return <Busy text="Checking" />
  if (state === 'importing') return <Busy text="Importing" />
  const isDone = state === 'done'
  return (
    <Stack gap={2} align="start">
      <StateBadge color={outcome.status === 'UNCHANGED' ? 'gray' : isDone ? 'teal' : 'blue'}>
        {isDone ? DONE[outcome.status] : change}
      </StateBadge>
      {outcome.api === null ? (
        <Text size="sm">{outcome.name}</Text>
      ) : (
        <AnchorLink
          to="/apis/$apiId"
          params={{ apiId: outcome.api }}
          search={{ tab: 'documentation' }}
          size="sm"
          {...(!isDone && { target: '_blank' })}
        >
          {outcome.name}
        </AnchorLink>
      )}
      {outcome.plan && <Text size="xs">{detailOf(outcome.plan)}</Text>}
      {reason && <Problem {...reason} />}
    </Stack>
  )
}

const Busy = ({ text }: { text: string }) => (
  <Text size="sm" component="div">
    <Loader size={12} aria-hidden mr={6} />
    {text}
  </Text>
)

const DONE: Readonly<Record<Outcome['status'], string>> = {
  CREATED: 'Created',
  UPDATED: 'Updated',
  UNCHANGED: 'Unchanged',
}

/** E.g. `name pets, new version 1.0, new document openapi.yaml, 2 schema warnings`. */
function detailOf({ api, version, document, findings }: NonNullable<Outcome['plan']>): string {
  const { errors, warnings } = findings
  const parts = [
    api.name !== api.displayName && `name ${api.name}`,
    `${ACTIONS[version.action]}version ${version.name}`,
    `${ACTIONS[document.action]}document ${document.name}`,
    errors > 0 && `${errors} ${errors === 1 ? 'schema error' : 'schema errors'}`,
    warnings > 0 && `${warnings} ${warnings === 1 ? 'schema warning' : 'schema warnings'}`,
  ]
  return parts.filter(Boolean).join(', ')
}

const ACTIONS = { CREATE: 'new ', UPDATE: 'changed ', NONE: '' }
