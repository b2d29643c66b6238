import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useAllowed } from '../http/session.ts'
import { Empty } from '../parts/states.tsx'
import { EraseUserDialog } from './erase-user-dialog.tsx'

/** A user who never existed, or was deleted. The personal data of a deleted user can still be erased. */
export function GoneUser({ id }: { id: string }) {
  const mayWrite = useAllowed('USER_WRITE')
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Empty title="There is no such user">
        <Text size="sm">The user {id} was deleted or never existed.</Text>
        {mayWrite && (
          <>
            <Text size="sm" my="sm">
              The audit log keeps the name of a deleted user until their personal data are erased.
            </Text>
            <Button variant="default" onClick={open}>
              Erase personal data
            </Button>
          </>
        )}
      </Empty>
      <EraseUserDialog id={id} name={id} opened={opened} onClose={close} />
    </>
  )
}
