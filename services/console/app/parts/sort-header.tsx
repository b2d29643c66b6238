import { Table, type TableThProps, UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'

interface SortHeaderProps extends Pick<TableThProps, 'visibleFrom'> {
  /** What the column sorts by: a property of the REST interface, or the id of the column. */
  field: string
  /** The sort of the list, e.g. `username,asc`. */
  sort: string
  onSort: (sort: string) => void
  children: ReactNode
}

const ARIA = { asc: 'ascending', desc: 'descending' } as const
const ARROWS = { asc: ' ↑', desc: ' ↓' } as const

/** The header of a column by which a list can be sorted. A second click reverses the order. */
export function SortHeader({ field, sort, onSort, children, ...header }: SortHeaderProps) {
  const [sorted, direction = 'asc'] = sort.split(',')
  const current = sorted === field ? (direction as keyof typeof ARIA) : undefined
  return (
    <Table.Th aria-sort={current ? ARIA[current] : 'none'} {...header}>
      <UnstyledButton
        fz="inherit"
        fw="inherit"
        onClick={() => onSort(`${field},${current === 'asc' ? 'desc' : 'asc'}`)}
      >
        {children}
        <span aria-hidden>{current && ARROWS[current]}</span>
      </UnstyledButton>
    </Table.Th>
  )
}
