import { Table } from '@mantine/core'
import { OPENS_ITS_LINK } from '../parts/row-click.ts'
import { SortHeader } from '../parts/sort-header.tsx'
import type { WebhookTable } from './list-table.tsx'

/** A page of the list, with buttons in the header that sort it. */
export function WebhookRows({ table }: { table: WebhookTable }) {
  const [sorted] = table.state.sorting
  const sort = sorted ? `${sorted.id},${sorted.desc ? 'desc' : 'asc'}` : ''
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table highlightOnHover verticalSpacing="xs" aria-label="Webhooks">
        <Table.Thead>
          <Table.Tr>
            {table.getFlatHeaders().map(({ id, column }) => (
              <SortHeader key={id} field={id} sort={sort} onSort={() => column.toggleSorting()}>
                {String(column.columnDef.header)}
              </SortHeader>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.getRowModel().rows.map(row => (
            <Table.Tr key={row.id} {...OPENS_ITS_LINK}>
              {row.getAllCells().map(cell => (
                <Table.Td key={cell.id} style={{ whiteSpace: 'nowrap' }}>
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
