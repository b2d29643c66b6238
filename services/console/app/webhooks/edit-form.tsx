import { Button, Group, SimpleGrid, Stack } from '@mantine/core'
import { type FormEvent, useRef } from 'react'
import { useEdited } from '../parts/edited.tsx'
import { fieldErrors } from '../parts/field-errors.ts'
import { UnsavedGuard } from '../parts/leave-guards.tsx'
import { ButtonLink } from '../parts/links.tsx'
import { notifyDone } from '../parts/notify.ts'
import { FormProblem } from '../parts/problem-panel.tsx'
import type { Stored } from '../parts/three-way.ts'
import { useErrorFocus } from '../parts/use-error-focus.ts'
import { type Draft, draftOf, FIELDS, LABELS, updateOf, valueText } from './draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { EventPicker } from './event-picker.tsx'
import { Section } from './section.tsx'
import { put, readAgain, readNow } from './webhook-changes.ts'
import type { TaggedWebhook } from './webhook-queries.ts'

const storedOf = ({ body, etag }: TaggedWebhook): Stored<Draft> => ({ draft: draftOf(body), etag })

/** Changes a webhook. The form begins with the state that was read when it opened, and is saved on that state only. */
export function EditForm({ current, onSaved }: { current: TaggedWebhook; onSaved: () => void }) {
  const { id } = current.body
  const { base, draft, setDraft, save, saving, comparison } = useEdited({
    opened: storedOf(current),
    put: async (mine, etag) => storedOf(await put(id, updateOf(mine), etag)),
    read: async () => storedOf(await readNow(id)),
    async onSaved() {
      await readAgain()
      notifyDone('The webhook is saved')
      onSaved()
    },
    what: 'webhook',
    labels: LABELS,
    textOf: valueText,
  })
  const form = useRef<HTMLFormElement>(null)
  useErrorFocus(form, saving.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save()
  }
  return (
    <form noValidate ref={form} onSubmit={submit} aria-label="Edit the webhook">
      <UnsavedGuard unsaved={JSON.stringify(draft) !== JSON.stringify(base.draft)} />
      <Stack>
        <Fields draft={draft} error={saving.error} onChange={changes => setDraft({ ...draft, ...changes })} />
        <FormProblem what="The webhook was not saved" error={saving.error} fields={FIELDS} />
        <Group
          justify="flex-end"
          py="sm"
          pos="sticky"
          bottom={0}
          bg="var(--mantine-color-body)"
          style={{ zIndex: 1, borderTop: '1px solid var(--mantine-color-default-border)' }}
        >
          <ButtonLink variant="default" to="/webhooks/$webhookId" params={{ webhookId: id }}>
            Cancel
          </ButtonLink>
          <Button type="submit" loading={saving.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
      {comparison}
    </form>
  )
}

interface FieldsProps {
  draft: Draft
  error: unknown
  onChange: (changes: Partial<Draft>) => void
}

function Fields({ draft, error, onChange }: FieldsProps) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
      <Section title="Endpoint">
        <EndpointFields draft={draft} onChange={onChange} error={error} />
      </Section>
      <Section title="Events">
        <EventPicker
          selected={draft.eventTypes}
          onChange={eventTypes => onChange({ eventTypes })}
          error={fieldErrors(error, FIELDS).eventTypes}
        />
      </Section>
    </SimpleGrid>
  )
}
