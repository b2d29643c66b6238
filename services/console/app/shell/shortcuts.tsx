import { ActionIcon, Checkbox, Group, Kbd, Modal, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { KeyboardIcon } from './icons.tsx'
import { useSingleKey, useSingleKeys } from './keys.ts'
import { MODIFIER } from './modifier.ts'

const SHORTCUTS: readonly { keys: readonly string[]; what: string }[] = [
  { keys: [MODIFIER, 'K'], what: 'Open the command palette' },
  { keys: ['/'], what: 'Go to the search of the page' },
  { keys: ['?'], what: 'Show this list' },
  { keys: ['Esc'], what: 'Close a dialog or a menu' },
  { keys: ['Tab'], what: 'Go to the next element; with Shift to the one before' },
]

/** The button and the dialog of the keyboard shortcuts. */
export function Shortcuts() {
  const [opened, { open, close }] = useDisclosure()
  const [singleKeys, setSingleKeys] = useSingleKeys()
  useSingleKey('?', open)
  useSingleKey('/', focusSearch)
  return (
    <>
      <ActionIcon variant="default" size="lg" visibleFrom="sm" onClick={open} aria-label="Keyboard shortcuts">
        <KeyboardIcon />
      </ActionIcon>
      <Modal
        opened={opened}
        onClose={close}
        title="Keyboard shortcuts"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
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
    </>
  )
}

function focusSearch() {
  document.querySelector<HTMLInputElement>('main input[type="search"]')?.focus()
}
