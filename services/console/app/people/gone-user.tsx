import { Button, Text } from '@mantine/core'
import { useAllowed } from '../http/session.ts'
import { Empty } from '../parts/states.tsx'

/** A user who never existed, or was deleted. The personal data of a deleted user can still be erased. */
export function GoneUser({ id, onErase }: { id: string; onErase: () => void }) {
  const mayWrite = useAllowed('USER_WRITE')
  return (
    <Empty title="There is no such user">
      <Text size="sm">The user {id} was deleted or never existed.</Text>
      {mayWrite && (
        <>
          <Text size="sm" my="sm">
            The audit log keeps the name of a deleted user until their personal data are erased.
          </Text>
          <Button variant="default" onClick={onErase}>
            Erase personal data
          </Button>
        </>
      )}
    </Empty>
  )
}
