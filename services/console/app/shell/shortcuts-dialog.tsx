import { Checkbox, Group, Kbd, Modal, Stack, Table, Text } from '@mantine/core'
import { useSingleKeys } from './keys.ts'
import { MODIFIER } from './modifier.ts'

interface Shortcut {
  keys: readonly string[]
  what: string
}

const SHORTCUTS: Readonly<Record<string, readonly Shortcut[]>> = {
  Everywhere: [
    { keys: [MODIFIER, 'K'], what: 'Open the command palette: pages, actions and records' },
    { keys: ['/'], what: 'Go to the search of the page' },
    { keys: ['?'], what: 'Show this list' },
    { keys: ['Esc'], what: 'Close a dialog or a menu' },
    { keys: ['Tab'], what: 'Go to the next element; with Shift to the one before' },
  ],
  'In a list with the focus': [
    { keys: ['↑', '↓'], what: 'Go to the row above or below' },
    { keys: ['PgUp', 'PgDn'], what: 'Go a screenful up or down' },
    { keys: ['Home', 'End'], what: 'Go to the first or the last row' },
  ],
  'In the list of APIs': [
    { keys: ['Enter'], what: 'Open the API' },
    { keys: ['Space'], what: 'Select the API, or no longer' },
    { keys: ['Shift', '↑', '↓'], what: 'Select a range' },
    { keys: [MODIFIER, 'A'], what: 'Select all loaded APIs' },
    { keys: ['Esc'], what: 'Select none' },
  ],
  'In the content of a document': [{ keys: [MODIFIER, 'I'], what: 'Search an OpenAPI document' }],
}

/** The list of the keyboard shortcuts, and the choice to turn off those of a single character. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [singleKeys, setSingleKeys] = useSingleKeys()
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        {Object.entries(SHORTCUTS).map(([where, shortcuts]) => (
          <Table key={where} verticalSpacing={4} captionSide="top">
            <Table.Caption ta="start" fw={600} mt={0}>
              {where}
            </Table.Caption>
            <Table.Tbody>
              {shortcuts.map(({ keys, what }) => (
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
        ))}
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
