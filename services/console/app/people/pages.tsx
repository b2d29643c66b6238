import { Group, Pagination, Text } from '@mantine/core'

interface PagesProps {
  /** What the list has, in the plural, e.g. "users". */
  what: string
  page: { number: number; totalPages: number; totalElements: number }
  onPage: (page: number) => void
}

/** The number of items of a list, and its pages if it has several. */
export function Pages({ what, page, onPage }: PagesProps) {
  const { number, totalPages, totalElements } = page
  return (
    <Group justify="space-between" component="nav" aria-label={`Pages of ${what}`}>
      <Text size="sm" role="status">
        {totalElements} {totalElements === 1 ? what.replace(/s$/, '') : what}
      </Text>
      {totalPages > 1 && (
        <Pagination
          total={totalPages}
          value={number}
          onChange={onPage}
          size="sm"
          getItemProps={item => ({ 'aria-label': `Page ${item}` })}
          getControlProps={control => ({ 'aria-label': CONTROLS[control] })}
        />
      )}
    </Group>
  )
}

const CONTROLS = { first: 'First page', previous: 'Previous page', next: 'Next page', last: 'Last page' }
