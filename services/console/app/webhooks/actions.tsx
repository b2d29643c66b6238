import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queries } from '../http/queries.ts'
import { useAllowed, useSession } from '../http/session.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { ButtonLink } from '../parts/links.tsx'
import { notifyDone } from '../parts/notify.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { draftOf, updateOf } from './draft.ts'
import { TransferDialog } from './transfer-dialog.tsx'
import { put, readAgain, useDeletion } from './webhook-changes.ts'
import type { TaggedWebhook } from './webhook-queries.ts'

const ADMINISTRATORS = ['GLOBAL_ADMIN', 'ADMIN'] as const

const route = getRouteApi('/inside/webhooks/$webhookId')

/** What a person with the scope can do with a webhook. */
export function WebhookActions({ current }: { current: TaggedWebhook }) {
  const { body: webhook, etag } = current
  const update = useMutation({
    mutationFn: (active: boolean) => put(webhook.id, { ...updateOf(draftOf(webhook)), active }, etag),
    // Also after a failure: another person may have changed it.
    onSettled: readAgain,
    onSuccess: ({ body: { active } }) =>
      notifyDone(active ? 'The webhook is active' : 'The webhook is inactive'),
  })
  return (
    <>
      <Group gap="xs">
        <ButtonLink variant="default" to="/webhooks/$webhookId/edit" params={{ webhookId: webhook.id }}>
          Edit
        </ButtonLink>
        <Button variant="default" loading={update.isPending} onClick={() => update.mutate(!webhook.active)}>
          {webhook.active ? 'Deactivate' : 'Activate'}
        </Button>
        <Transfer current={current} />
        <Deletion current={current} />
      </Group>
      {update.isError && (
        <div style={{ flexBasis: '100%' }}>
          <ProblemPanel
            what={webhook.active ? 'The webhook is still active' : 'The webhook is still inactive'}
            error={update.error}
          />
        </div>
      )}
    </>
  )
}

/** Only administrators may transfer a webhook. */
function Transfer({ current }: { current: TaggedWebhook }) {
  const [asking, { open, close }] = useDisclosure()
  const mayRead = useAllowed('USER_READ')
  const role = useSession()?.user.role
  if (!mayRead || !ADMINISTRATORS.some(each => each === role)) return null
  return (
    <>
      <Button variant="default" onClick={open}>
        Transfer
      </Button>
      {asking && <TransferDialog current={current} onClose={close} />}
    </>
  )
}

function Deletion({ current: { body: webhook, etag } }: { current: TaggedWebhook }) {
  const navigate = route.useNavigate()
  const [asking, { open, close }] = useDisclosure()
  const deletion = useDeletion(webhook.id)
  const remove = async () => {
    await deletion.mutateAsync(etag)
    notifyDone(`${webhook.displayName} is deleted`)
    await navigate({ to: '/webhooks' })
    queries.removeQueries({ queryKey: ['webhooks', 'one', webhook.id] })
    queries.invalidateQueries({ queryKey: ['webhooks', 'list'] })
  }
  return (
    <>
      <Button variant="default" c="red" onClick={open}>
        Delete
      </Button>
      {asking && (
        <ConfirmDialog
          onClose={close}
          title={`Delete ${webhook.displayName}?`}
          action="Delete the webhook"
          color="red"
          onConfirm={remove}
          failed="The webhook was not deleted"
        >
          <Text size="sm">
            Its pending deliveries are cancelled. Its past deliveries and its history stay readable. A
            deletion cannot be taken back.
          </Text>
        </ConfirmDialog>
      )}
    </>
  )
}
