import { Center, Loader, Stack, Text, Title } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useSlow } from './slow.tsx'

/** A list or a page without content: what would be here, and how to get it. A screen reader says it, e.g. after a search. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" role="status">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text c="dimmed" component="div" ta="center">
        {children}
      </Text>
    </Stack>
  )
}

/** Content that is being read. After some seconds it says that the service is slow. */
export function Loading({ what }: { what: string }) {
  const { online } = useNetwork()
  const slow = useSlow(true)
  const text = slow ? `Still reading ${what}: the service is slow` : `Reading ${what}`
  return (
    <Center py="xl" role="status">
      <Stack align="center" gap="xs">
        <Loader size="sm" aria-hidden />
        <Text size="sm">{online ? text : `${sentence(what)} will be read when the connection is back`}</Text>
      </Stack>
    </Center>
  )
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
