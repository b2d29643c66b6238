import '../../more-styles.ts'
import { Button, Group, Stack } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { fieldErrors } from '../../parts/field-errors.ts'
import { UnsavedGuard } from '../../parts/leave-guards.tsx'
import { FormProblem } from '../../parts/problem-panel.tsx'
import { useErrorFocus } from '../../parts/use-error-focus.ts'
import { ApiFields } from './api-fields.tsx'
import { type ApiDraft, EMPTY_DRAFT, FIELDS, sameDraft } from './draft.ts'

interface ApiFormProps {
  draft: ApiDraft
  /** The fields as the service has them. */
  stored: ApiDraft
  onChange: (draft: ApiDraft) => void
  onSubmit: () => void
  /** The last submission, as a mutation has it. */
  submission: { error: unknown; isPending: boolean; variables: ApiDraft | undefined }
  /** Text of the button, e.g. "Create API". */
  action: string
  /** What a failure means, e.g. "The API is not created". */
  failed: string
  /** The link that leaves the form. */
  cancel: ReactNode
  ownerName?: string | null
}

/** The form of an API. What was typed stays when a submission fails, and the errors of the service are at their fields. */
export function ApiForm(props: ApiFormProps) {
  const { draft, stored, submission } = props
  const { error, isPending, variables: submitted } = submission
  const form = useRef<HTMLFormElement>(null)
  useErrorFocus(form, error)
  const errors = Object.entries(fieldErrors(error, FIELDS)).filter(([field]) =>
    unchanged(field as keyof ApiDraft, draft, submitted),
  )
  return (
    <form
      ref={form}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        props.onSubmit()
      }}
    >
      <UnsavedGuard unsaved={!sameDraft(draft, stored)} />
      <Stack maw={860}>
        {!isPending && <FormProblem what={props.failed} error={error} fields={FIELDS} />}
        <ApiFields
          draft={draft}
          onChange={props.onChange}
          isNew={stored === EMPTY_DRAFT}
          errors={Object.fromEntries(errors)}
          ownerName={props.ownerName}
        />
        <Group>
          <Button type="submit" loading={isPending}>
            {props.action}
          </Button>
          {props.cancel}
        </Group>
      </Stack>
    </form>
  )
}

/** Whether a field still has the value that was refused. */
const unchanged = (field: keyof ApiDraft, draft: ApiDraft, submitted: ApiDraft | undefined) =>
  JSON.stringify(draft[field]) === JSON.stringify(submitted?.[field])
