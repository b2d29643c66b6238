import '../more-styles.ts'
import { Code, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Empty } from '../parts/states.tsx'

/** What the catalogue is, and how it gets its first APIs. @param children buttons that create APIs */
export function EmptyCatalogue({ mayWrite, children }: { mayWrite: boolean; children: ReactNode }) {
  return (
    <Empty title="There are no APIs yet">
      <Stack align="center" gap="sm" maw="36rem">
        <Text>
          The catalogue has your APIs with their documents, versions, owners and deployments, and tells others
          about changes by webhooks.
        </Text>
        {children}
        {mayWrite && (
          <Text size="sm">
            Create one by hand, or import OpenAPI and AsyncAPI documents. To look around first, run{' '}
            <Code>npm run demo</Code> in the folder of Gantry: it adds 2,639 public APIs.
          </Text>
        )}
      </Stack>
    </Empty>
  )
}
