import { Paper, Table, Text } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { StateBadge } from '../parts/state-badge.tsx'
import { Time } from '../parts/time.tsx'
import type { System } from './samples.ts'

type Service = System['services'][number]
type Replica = Schemas['Replica']

const STATUS: Readonly<Record<Replica['status'], readonly [color: string, text: string]>> = {
  READY: ['teal', 'Ready'],
  NOT_READY: ['orange', 'Not ready'],
  UNAVAILABLE: ['red', 'Unavailable'],
}

/** The services with their replicas: status, version, and what they wait for. */
export function ServiceTable({ services }: { services: readonly Service[] }) {
  return (
    <Paper withBorder>
      <Table.ScrollContainer minWidth={0} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label="Services" verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Service</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th visibleFrom="sm">Waits for</Table.Th>
              <Table.Th visibleFrom="sm">Version</Table.Th>
              <Table.Th visibleFrom="sm">Host</Table.Th>
              <Table.Th visibleFrom="sm">Node.js</Table.Th>
              <Table.Th visibleFrom="sm">Started</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{services.map(ServiceRows)}</Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function ServiceRows({ name, status, replicas }: Service) {
  if (replicas.length === 0)
    return (
      <Table.Tr key={name}>
        <Table.Th scope="row">{name}</Table.Th>
        <Table.Td>
          <Status status={status} />
        </Table.Td>
        <Table.Td colSpan={5}>No replica is known.</Table.Td>
      </Table.Tr>
    )
  return replicas.map((replica, index) => (
    <Table.Tr key={`${replica.host} ${replica.startedAt} ${replica.waitsFor}`}>
      {index === 0 && (
        <Table.Th scope="rowgroup" rowSpan={replicas.length} style={{ verticalAlign: 'top' }}>
          {name}
          {replicas.length > 1 && (
            <Text span inherit fw={400}>
              {' '}
              × {replicas.length}
            </Text>
          )}
        </Table.Th>
      )}
      <ReplicaCells replica={replica} />
    </Table.Tr>
  ))
}

function ReplicaCells({ replica }: { replica: Replica }) {
  return (
    <>
      <Table.Td>
        <Status status={replica.status} />
        <Text size="xs" mt={4} hiddenFrom="sm">
          Version {replica.version ?? 'unknown'}
          {replica.startedAt && (
            <>
              , started <Time at={replica.startedAt} />
            </>
          )}
        </Text>
        {replica.waitsFor && (
          <Text size="xs" hiddenFrom="sm">
            Waits for {replica.waitsFor}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{replica.waitsFor ?? '–'}</Table.Td>
      <Table.Td visibleFrom="sm">{replica.version ?? 'unknown'}</Table.Td>
      <Table.Td visibleFrom="sm">{replica.host ?? 'unknown'}</Table.Td>
      <Table.Td visibleFrom="sm">{replica.node ?? 'unknown'}</Table.Td>
      <Table.Td visibleFrom="sm">{replica.startedAt ? <Time at={replica.startedAt} /> : 'unknown'}</Table.Td>
    </>
  )
}

function Status({ status }: { status: Replica['status'] }) {
  const [color, text] = STATUS[status]
  return <StateBadge color={color}>{text}</StateBadge>
}
