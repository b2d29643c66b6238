import { Table } from '@mantine/core'
import { OPENS_ITS_LINK } from '../parts/row-click.ts'
import { SortHeader } from '../parts/sort-header.tsx'
import type { WebhookTable } from './list-table.tsx'
import type { WebhookSort } from './search.ts'

/** A phone has one column, with the state below the name. */
const shownFrom = (column: string) =>
  column === ('name' satisfies WebhookSort) ? {} : ({ visibleFrom: 'sm' } as const)

/** A page of the list, with buttons in the header that sort it. */
export function WebhookRows({ table }: { table: WebhookTable }) {
  const [sorted] = table.state.sorting
  const sort = sorted ? `${sorted.id},${sorted.desc ? 'desc' : 'asc'}` : ''
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table highlightOnHover verticalSpacing="xs" aria-label="Webhooks">
        <Table.Thead>
          <Table.Tr>
            {table.getFlatHeaders().map(({ id, column }) => (
              <SortHeader
                key={id}
                field={id}
                sort={sort}
                onSort={() => column.toggleSorting()}
                {...shownFrom(id)}
              >
                {String(column.columnDef.header)}
              </SortHeader>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.getRowModel().rows.map(row => (
            <Table.Tr key={row.id} {...OPENS_ITS_LINK}>
              {row.getAllCells().map(cell => (
                <Table.Td key={cell.id} style={{ whiteSpace: 'nowrap' }} {...shownFrom(cell.column.id)}>
                  <table.FlexRender cell={cell} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
