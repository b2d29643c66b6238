import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface FigureProps {
  name: string
  value: ReactNode
  /** What explains the value. */
  children: ReactNode
}

/** An answer that a page gives first: a large value with its name and an explanation. */
export function Figure({ name, value, children }: FigureProps) {
  return (
    <Paper withBorder p="sm">
      <Stack gap={2}>
        <Text size="sm" c="dimmed">
          {name}
        </Text>
        <Text component="div" fz="lg" fw={600} lh={1.3} style={{ overflowWrap: 'anywhere' }}>
          {value}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          {children}
        </Text>
      </Stack>
    </Paper>
  )
}
