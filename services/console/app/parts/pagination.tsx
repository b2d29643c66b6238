import { Group, Pagination, Text } from '@mantine/core'

interface PagesProps {
  /** What the list has, in the plural, e.g. "users". */
  what: string
  /** The same for one item, e.g. "user". Without it the number of items is not shown. */
  one?: string
  page: { number: number; totalPages: number; totalElements: number }
  onPage: (page: number) => void
}

/** The number of items of a list, and its pages if it has several. */
export function Pages({ what, one, page, onPage }: PagesProps) {
  const { number, totalPages, totalElements } = page
  if (one === undefined && totalPages <= 1) return null
  return (
    <Group justify="space-between" component="nav" aria-label={`Pages of ${what}`}>
      {one !== undefined && (
        <Text size="sm" role="status">
          {totalElements.toLocaleString('en')} {totalElements === 1 ? one : what}
        </Text>
      )}
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
