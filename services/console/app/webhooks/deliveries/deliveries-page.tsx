import { Stack, Title } from '@mantine/core'
import { DeliveryList } from './delivery-list.tsx'

/** The deliveries of all webhooks, deleted ones included. */
export function DeliveriesPage() {
  return (
    <Stack>
      <Title order={1} size="h2">
        Deliveries
      </Title>
      <DeliveryList />
    </Stack>
  )
}
