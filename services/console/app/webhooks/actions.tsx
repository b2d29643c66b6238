import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { queries } from '../http/queries.ts'
import { useAllowed, useSession } from '../http/session.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { ButtonLink } from '../parts/links.tsx'
import { notifyDone } from '../parts/notify.ts'
import { PhoneMenu } from '../parts/phone-menu.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { draftOf, updateOf } from './draft.ts'
import { TransferDialog } from './transfer-dialog.tsx'
import { put, readAgain, useDeletion } from './webhook-changes.ts'
import type { TaggedWebhook } from './webhook-queries.ts'

const ADMINISTRATORS = ['GLOBAL_ADMIN', 'ADMIN'] as const

const route = getRouteApi('/inside/webhooks/$webhookId')

/** What a person with the scope can do with a webhook. A phone has it in one menu. */
export function WebhookActions({ current }: { current: TaggedWebhook }) {
  const { body: webhook, etag } = current
  const navigate = route.useNavigate()
  const mayTransfer = useMayTransfer()
  const [asked, setAsked] = useState<'transfer' | 'delete'>()
  const close = () => setAsked(undefined)
  const update = useMutation({
    mutationFn: (active: boolean) => put(webhook.id, { ...updateOf(draftOf(webhook)), active }, etag),
    // Also after a failure: another person may have changed it.
    onSettled: readAgain,
    onSuccess: ({ body: { active } }) =>
      notifyDone(active ? 'The webhook is active' : 'The webhook is inactive'),
  })
  const edit = { to: '/webhooks/$webhookId/edit', params: { webhookId: webhook.id } } as const
  const others = [
    {
      text: webhook.active ? 'Deactivate' : 'Activate',
      act: () => update.mutate(!webhook.active),
      loading: update.isPending,
    },
    ...(mayTransfer ? [{ text: 'Transfer', act: () => setAsked('transfer') }] : []),
    { text: 'Delete', act: () => setAsked('delete'), c: 'red' },
  ]
  return (
    <>
      <Group gap="xs" visibleFrom="sm">
        <ButtonLink variant="default" {...edit}>
          Edit
        </ButtonLink>
        {others.map(({ text, act, ...look }) => (
          <Button key={text} variant="default" onClick={act} {...look}>
            {text}
          </Button>
        ))}
      </Group>
      <PhoneMenu
        of={webhook.displayName}
        actions={[{ text: 'Edit', act: () => navigate(edit) }, ...others]}
        loading={update.isPending}
      />
      {update.isError && (
        <div style={{ flexBasis: '100%' }}>
          <ProblemPanel
            what={webhook.active ? 'The webhook is still active' : 'The webhook is still inactive'}
            error={update.error}
          />
        </div>
      )}
      {asked === 'transfer' && <TransferDialog current={current} onClose={close} />}
      {asked === 'delete' && <DeleteDialog current={current} onClose={close} />}
    </>
  )
}

/** Only administrators may transfer a webhook. */
function useMayTransfer(): boolean {
  const mayRead = useAllowed('USER_READ')
  const role = useSession()?.user.role
  return mayRead && ADMINISTRATORS.some(each => each === role)
}

interface DeleteDialogProps {
  current: TaggedWebhook
  onClose(): void
}

function DeleteDialog({ current: { body: webhook, etag }, onClose }: DeleteDialogProps) {
  const navigate = route.useNavigate()
  const deletion = useDeletion(webhook.id)
  const remove = async () => {
    await deletion.mutateAsync(etag)
    notifyDone(`${webhook.displayName} is deleted`)
    await navigate({ to: '/webhooks' })
    queries.removeQueries({ queryKey: ['webhooks', 'one', webhook.id] })
    queries.invalidateQueries({ queryKey: ['webhooks', 'list'] })
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${webhook.displayName}?`}
      action="Delete the webhook"
      color="red"
      onConfirm={remove}
      failed="The webhook was not deleted"
    >
      <Text size="sm">
        Its pending deliveries are cancelled. Its past deliveries and its history stay readable. A deletion
        cannot be taken back.
      </Text>
    </ConfirmDialog>
  )
}
