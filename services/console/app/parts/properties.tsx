import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** The named values of a record, each as a `Property`. */
export function Properties({ children }: { children: ReactNode }) {
  return (
    <Stack gap={8} component="dl" m={0}>
      {children}
    </Stack>
  )
}

export function Property({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" fw={600}>
        {name}
      </Text>
      <Text component="dd" m={0} size="sm" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  )
}
