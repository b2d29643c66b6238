import { Checkbox, Group, Kbd, Modal, Stack, Table, Text } from '@mantine/core'
import { useSingleKeys } from './keys.ts'
import { MODIFIER } from './modifier.ts'

const SHORTCUTS: readonly { keys: readonly string[]; what: string }[] = [
  { keys: [MODIFIER, 'K'], what: 'Open the command palette' },
  { keys: ['/'], what: 'Go to the search of the page' },
  { keys: ['?'], what: 'Show this list' },
  { keys: ['Esc'], what: 'Close a dialog or a menu' },
  { keys: ['Tab'], what: 'Go to the next element; with Shift to the one before' },
]

/** The list of the keyboard shortcuts, and the choice to turn off those of a single character. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [singleKeys, setSingleKeys] = useSingleKeys()
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        <Table>
          <Table.Tbody>
            {SHORTCUTS.map(({ keys, what }) => (
              <Table.Tr key={what}>
                <Table.Th fw={400}>{what}</Table.Th>
                <Table.Td>
                  <Group gap={4} justify="flex-end" wrap="nowrap">
                    {keys.map(key => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Checkbox
          label="Shortcuts of a single character"
          description="Turn them off if you use speech input."
          checked={singleKeys}
          onChange={event => setSingleKeys(event.currentTarget.checked)}
        />
        <Text size="xs">This browser remembers the choice.</Text>
      </Stack>
    </Modal>
  )
}
