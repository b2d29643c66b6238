import { Modal, Stack, Table, Text } from '@mantine/core'
import { ROLE_ACCESS, ROLE_NAMES, ROLE_TEXTS, ROLES } from './roles.ts'

const ACCESS_TEXTS = { none: '–', read: 'read', change: 'read, change' } as const
const READ_ALOUD = { none: 'nothing', read: 'read', change: 'read and change' } as const

/** What each role may do, in a sentence and by area. */
export function RolesDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size="xl"
      title="What roles may do"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Table aria-label="Roles" mb="md">
        <Table.Tbody>
          {ROLES.map(role => (
            <Table.Tr key={role}>
              <Table.Th scope="row">
                {ROLE_NAMES[role]}
                <Stack gap={4} hiddenFrom="sm">
                  <Text size="sm">{ROLE_TEXTS[role]}</Text>
                  <Areas what="Reads and changes" of={role} access="change" />
                  <Areas what="Only reads" of={role} access="read" />
                </Stack>
              </Table.Th>
              <Table.Td visibleFrom="sm">{ROLE_TEXTS[role]}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Table.ScrollContainer
        visibleFrom="sm"
        minWidth={640}
        scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      >
        <Table aria-label="Access of each role by area">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Area</Table.Th>
              {ROLES.map(role => (
                <Table.Th key={role}>{ROLE_NAMES[role]}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ROLE_ACCESS.map(([area, access]) => (
              <Table.Tr key={area}>
                <Table.Th scope="row" fw={400}>
                  {area}
                </Table.Th>
                {ROLES.map(role => (
                  <Table.Td key={role} aria-label={READ_ALOUD[access[role]]}>
                    {ACCESS_TEXTS[access[role]]}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" mt="md">
        Users cannot give a role above their own, or change a user who has one. An access token may do at most
        what the role of its user allows.
      </Text>
    </Modal>
  )
}

interface AreasProps {
  what: string
  of: (typeof ROLES)[number]
  access: 'read' | 'change'
}

/** The areas to which a role has an access, as a sentence for a phone, which has no room for the table. */
function Areas({ what, of, access }: AreasProps) {
  const areas = ROLE_ACCESS.filter(([, accesses]) => accesses[of] === access).map(([area]) => area)
  if (areas.length === 0) return null
  return (
    <Text size="sm" fw={400}>
      <b>{what}:</b> {areas.join('; ')}
    </Text>
  )
}
