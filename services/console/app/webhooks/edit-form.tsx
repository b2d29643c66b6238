import { Button, Group, Paper, SimpleGrid, Stack, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { type FormEvent, useState } from 'react'
import { RequestFailed } from '../http/problem.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { ConflictPanel } from './conflict-panel.tsx'
import { type Draft, draftOf, merged, updateOf } from './draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { EventPicker } from './event-picker.tsx'
import { fieldErrors } from './field-errors.ts'
import { readNow, useUpdate } from './webhook-changes.ts'
import type { TaggedWebhook } from './webhook-queries.ts'

/** Changes a webhook. The form begins with the state that was read when it opened, and is saved on that state only. */
export function EditForm({ current, onDone }: { current: TaggedWebhook; onDone: () => void }) {
  const [base, setBase] = useState(current)
  const [draft, setDraft] = useState<Draft>(() => draftOf(current.body))
  const [theirs, setTheirs] = useState<TaggedWebhook>()
  const update = useUpdate(base.body.id)
  const change = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTheirs(undefined)
    update.mutate(
      { update: updateOf(draft), etag: base.etag },
      {
        onSuccess: () => {
          notifications.show({ message: 'The webhook is saved' })
          onDone()
        },
        onError: async error => {
          if (error instanceof RequestFailed && error.problem.status === 412)
            setTheirs(await readNow(base.body.id))
        },
      },
    )
  }
  const takeOver = () => {
    if (!theirs) return
    setDraft(merged(draftOf(base.body), draftOf(theirs.body), draft))
    setBase(theirs)
    setTheirs(undefined)
    update.reset()
  }
  return (
    <form onSubmit={submit} aria-label="Edit the webhook">
      <Stack>
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
          <Paper withBorder p="md">
            <Title order={2} size="h4" mb="md">
              Where to send
            </Title>
            <EndpointFields draft={draft} onChange={change} error={update.error} />
          </Paper>
          <Paper withBorder p="md">
            <Title order={2} size="h4" mb="md">
              What to hear
            </Title>
            <EventPicker
              selected={draft.eventTypes}
              onChange={eventTypes => change({ eventTypes })}
              error={fieldErrors(update.error).eventTypes}
            />
          </Paper>
        </SimpleGrid>
        {theirs && (
          <ConflictPanel
            base={draftOf(base.body)}
            theirs={draftOf(theirs.body)}
            mine={draft}
            onTakeOver={takeOver}
          />
        )}
        {update.isError && !theirs && <ProblemPanel what="The webhook was not saved" error={update.error} />}
        <Group
          justify="flex-end"
          py="sm"
          pos="sticky"
          bottom={0}
          bg="var(--mantine-color-body)"
          style={{ zIndex: 1, borderTop: '1px solid var(--mantine-color-default-border)' }}
        >
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={update.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
