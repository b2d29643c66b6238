import { Button, SimpleGrid, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'

interface FilterGridProps {
  label: string
  children: ReactNode
  /** What is below the grid. */
  below?: ReactNode
}

/** The filters of a list. A phone shows them on demand, so that the list is in sight. */
export function FilterGrid({ label, children, below }: FilterGridProps) {
  const [opened, { toggle }] = useDisclosure()
  const folded = !opened && { visibleFrom: 'sm' }
  return (
    <Stack gap="xs" component="search" aria-label={label}>
      <Button
        hiddenFrom="sm"
        variant="default"
        aria-expanded={opened}
        onClick={toggle}
        style={{ alignSelf: 'start' }}
      >
        {opened ? 'Hide the filters' : 'Show the filters'}
      </Button>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm" {...folded}>
        {children}
      </SimpleGrid>
      {below}
    </Stack>
  )
}
