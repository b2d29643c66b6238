import { Center, Loader, Stack, Text, Title } from '@mantine/core'
import { useTimeout } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'

const SLOW_MS = 4_000

/** A list or a page without content: what would be here, and how to get it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl">
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
  const [slow, setSlow] = useState(false)
  const { start, clear } = useTimeout(() => setSlow(true), SLOW_MS)
  useEffect(() => {
    start()
    return clear
  }, [start, clear])
  return (
    <Center py="xl" role="status">
      <Stack align="center" gap="xs">
        <Loader size="sm" aria-hidden />
        <Text size="sm">{slow ? `Still reading ${what}: the service is slow` : `Reading ${what}`}</Text>
      </Stack>
    </Center>
  )
}
