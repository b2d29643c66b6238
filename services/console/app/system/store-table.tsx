import { Paper, Table, Text } from '@mantine/core'
import { StateBadge } from '../parts/state-badge.tsx'
import type { System } from './samples.ts'

type Store = System['backingStores'][number]

const PURPOSES: Readonly<Record<Store['purpose'], string>> = {
  EVENT_LOG: 'Event log',
  READ_MODELS: 'Read models',
  MESSAGE_BUS: 'Message bus',
  USER_KEYS: 'Keys of users',
  IMAGES: 'Images',
}

/** The backing stores as the services see them. */
export function StoreTable({ stores, services }: { stores: readonly Store[]; services: number }) {
  return (
    <Paper withBorder>
      <Table.ScrollContainer minWidth={0} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label="Backing stores" verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Purpose</Table.Th>
              <Table.Th visibleFrom="sm">Store</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th visibleFrom="sm">Seen by</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {stores.map(store => (
              <Table.Tr key={`${store.purpose} ${store.kind} ${store.version} ${store.status}`}>
                <Table.Th scope="row">
                  {PURPOSES[store.purpose]}
                  <Text size="xs" hiddenFrom="sm">
                    {store.kind} {store.version}
                  </Text>
                </Table.Th>
                <Table.Td visibleFrom="sm">
                  {store.kind} {store.version}
                </Table.Td>
                <Table.Td>
                  <StateBadge color={store.status === 'AVAILABLE' ? 'teal' : 'red'}>
                    {store.status === 'AVAILABLE' ? 'Available' : 'Unavailable'}
                  </StateBadge>
                  {store.services.length < services && (
                    <Text size="xs" hiddenFrom="sm">
                      Seen by {store.services.join(', ')}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  {store.services.length === services ? 'all services' : store.services.join(', ')}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
