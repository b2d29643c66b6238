import { Table, Text, UnstyledButton } from '@mantine/core'
import type { WebhookTable } from './list-table.tsx'

/** A page of the list, with buttons in the header that sort it. */
export function WebhookRows({ table }: { table: WebhookTable }) {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table highlightOnHover verticalSpacing="xs" aria-label="Webhooks">
        <Table.Thead>
          <Table.Tr>
            {table.getFlatHeaders().map(({ id, column }) => (
              <SortHeader key={id} column={column} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.getRowModel().rows.map(row => (
            <Table.Tr key={row.id}>
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

const ARIA = { asc: 'ascending', desc: 'descending' } as const
const ARROWS = { asc: '↑', desc: '↓' } as const

type Column = ReturnType<WebhookTable['getAllLeafColumns']>[number]

function SortHeader({ column }: { column: Column }) {
  const sorted = column.getIsSorted()
  return (
    <Table.Th aria-sort={sorted ? ARIA[sorted] : 'none'}>
      <UnstyledButton onClick={column.getToggleSortingHandler()} fz="sm" fw={600}>
        {String(column.columnDef.header)}{' '}
        <Text span inherit aria-hidden>
          {sorted && ARROWS[sorted]}
        </Text>
      </UnstyledButton>
    </Table.Th>
  )
}
