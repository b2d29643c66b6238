import { Box, Button, Group, SimpleGrid, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'

interface FilterGridProps {
  label: string
  children: ReactNode
  /** Number of filters that are set: a phone tells it while it does not show them. */
  active: number
  /** Class of the grid that has other columns than four equal ones on a wide screen. */
  className?: string | undefined
  /** Further filters, which a wide screen shows on demand so that the list is in sight. */
  more?: ReactNode
  /** Whether further filters are shown from the beginning, because one of them is set. */
  moreSet?: boolean
  /** What is below the grid. */
  below?: ReactNode
}

const GRID = { cols: { base: 1, xs: 2, md: 4 }, spacing: 'sm', verticalSpacing: 'xs' }

/** The filters of a list. A phone shows them on demand, so that the list is in sight. */
export function FilterGrid(props: FilterGridProps) {
  const { label, children, active, className, more, moreSet = false, below } = props
  const [opened, { toggle }] = useDisclosure()
  const [moreOpened, { toggle: toggleMore }] = useDisclosure(moreSet)
  return (
    <Stack gap="xs" component="search" aria-label={label}>
      <Button
        hiddenFrom="sm"
        variant="default"
        aria-expanded={opened}
        onClick={toggle}
        style={{ alignSelf: 'start' }}
      >
        {opened ? 'Hide the filters' : `Show the filters${active > 0 ? `: ${active} set` : ''}`}
      </Button>
      <Box {...(!opened && { visibleFrom: 'sm' })}>
        {className ? (
          <div className={className}>{children}</div>
        ) : (
          <SimpleGrid {...GRID}>{children}</SimpleGrid>
        )}
        {more && (
          <SimpleGrid {...GRID} mt="xs" {...(!moreOpened && { hiddenFrom: 'sm' })}>
            {more}
          </SimpleGrid>
        )}
      </Box>
      {(more || below) && (
        <Group>
          {more && (
            <Button
              visibleFrom="sm"
              size="xs"
              variant="default"
              aria-expanded={moreOpened}
              onClick={toggleMore}
            >
              {moreOpened ? 'Fewer filters' : 'More filters'}
            </Button>
          )}
          {below}
        </Group>
      )}
    </Stack>
  )
}
