import { Select, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { notifyDone } from '../parts/notify.ts'
import { draftOf, updateOf } from './draft.ts'
import { put, readAgain } from './webhook-changes.ts'
import type { TaggedWebhook } from './webhook-queries.ts'

const SHOWN = 20
const TYPING_MS = 200

/** Gives a webhook to another active user. */
export function TransferDialog({ current, onClose }: { current: TaggedWebhook; onClose: () => void }) {
  const { body: webhook, etag } = current
  const [owner, setOwner] = useState<string | null>(null)
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed, TYPING_MS)
  const users = useQuery({
    queryKey: ['users', 'active', text],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { text, status: 'ACTIVE' as const, size: SHOWN }
      return answer(client.listUsers(query, { signal }))
    },
  })
  const transfer = async () => {
    await put(webhook.id, { ...updateOf(draftOf(webhook)), owner }, etag).finally(readAgain)
    notifyDone(`${webhook.displayName} has another owner`)
  }
  const choices = users.data?.content.filter(({ id }) => id !== webhook.owner) ?? []
  return (
    <ConfirmDialog
      title={`Transfer ${webhook.displayName}`}
      action="Transfer"
      failed="The webhook was not transferred"
      disabled={owner === null}
      unsaved={owner !== null}
      onConfirm={transfer}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm">
          The webhook stays active as long as the role of its owner allows reading its event types.
        </Text>
        <Select
          label="New owner"
          placeholder="Name, user name or email"
          searchable
          // The service searches; the texts of the choices need not contain what was typed.
          filter={({ options }) => options}
          data={choices.map(({ id, displayName, username }) => ({
            value: id,
            label: `${displayName} (${username})`,
          }))}
          value={owner}
          onChange={setOwner}
          onSearchChange={setTyped}
          error={users.isError ? 'The users cannot be listed' : undefined}
          nothingFoundMessage="No active user matches"
        />
      </Stack>
    </ConfirmDialog>
  )
}
