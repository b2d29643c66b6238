import { Paper, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** A part of a page about a webhook, with a title of its own. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  )
}
