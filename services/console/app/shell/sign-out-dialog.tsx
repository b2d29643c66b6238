import '../more-styles.ts'
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Session } from '../http/session.ts'
import { signOutEverywhere } from '../login/sign-in.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'

/** Asks before all logins of the person end. */
export function SignOutDialog({ current, onClose }: { current: Session; onClose: () => void }) {
  const ending = useMutation({ mutationFn: signOutEverywhere })
  return (
    <Modal opened onClose={onClose} title="Sign out everywhere" closeButtonProps={{ 'aria-label': 'Cancel' }}>
      <Stack>
        <Text size="sm">
          This ends all logins of {current.user.username} in every browser and every program that has logged
          in with the password, including this one. Work that is not saved there may be lost.
        </Text>
        <Text size="sm">Access tokens stay valid. To end one, revoke it.</Text>
        {ending.isError && <ProblemPanel what="The logins have not been ended" error={ending.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={ending.isPending} onClick={() => ending.mutate()}>
            End all logins
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
