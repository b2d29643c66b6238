import { ButtonLink } from '../parts/links.tsx'
import '../more-styles.ts'
import { Button, Group, NumberInput, Stack, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Scope } from '../http/schemas.ts'
import { useSession } from '../http/session.ts'
import { fieldErrors, refuseFields, requireFields } from '../parts/field-errors.ts'
import { useIdempotencyKey } from '../parts/idempotency.ts'
import { UnsavedGuard } from '../parts/leave-guards.tsx'
import { FormProblem } from '../parts/problem-panel.tsx'
import { Trail } from '../parts/trail.tsx'
import { useErrorFocus } from '../parts/use-error-focus.ts'
import { ScopePicker } from './scope-picker.tsx'
import { endOf } from './token-expiry.ts'
import { TokenSecret } from './token-secret.tsx'

const LONGEST_DAYS = 365

const isPossible = (days: number | string) => Number(days) >= 1 && Number(days) <= LONGEST_DAYS

interface TokenDraft {
  name: string
  /** As typed; a text if it is not a number. */
  validityDays: number | string
  scopes: readonly Scope[]
}

const FIELDS = { labels: { name: 'Name', validityDays: 'Valid for days', scopes: 'Scopes' } }

const NEW_TOKEN: TokenDraft = { name: '', validityDays: 90, scopes: [] }

/** Creates an access token. Its secret is in the state of this page alone, so that it is gone after a reload. */
export function NewTokenPage() {
  const [draft, setDraft] = useState(NEW_TOKEN)
  const keys = useIdempotencyKey()
  const form = useRef<HTMLFormElement>(null)
  const create = useMutation({
    mutationFn: async ({ name, validityDays, scopes }: TokenDraft) => {
      requireFields({ name, validityDays, scopes }, 'name', 'validityDays', 'scopes')
      if (!isPossible(validityDays))
        refuseFields({ field: 'validityDays', message: `must be from 1 to ${LONGEST_DAYS}` })
      const body = { name, validityDays: Number(validityDays), scopes: [...scopes] }
      return answer(client.createAccessToken({ body }, { idempotencyKey: keys.for(body) }))
    },
    // The answer has the secret, which is not kept in the cache.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tokens'] }),
  })
  useErrorFocus(form, create.error)
  return (
    <Stack maw={760}>
      <Trail to="/tokens" label="Access tokens" page="Create token" />
      <Title order={1} size="h2">
        {create.isSuccess ? `${create.data.name} is created` : 'Create token'}
      </Title>
      {create.isSuccess ? (
        <TokenSecret token={create.data} />
      ) : (
        <form
          ref={form}
          noValidate
          onSubmit={event => {
            event.preventDefault()
            create.mutate(draft)
          }}
        >
          <Stack>
            <TokenFields draft={draft} errors={fieldErrors(create.error, FIELDS)} onChange={setDraft} />
            <FormProblem what="The token is not created" error={create.error} fields={FIELDS} />
            <Group>
              <Button type="submit" loading={create.isPending}>
                Create token
              </Button>
              <ButtonLink variant="default" to="/tokens">
                Cancel
              </ButtonLink>
            </Group>
          </Stack>
        </form>
      )}
      <UnsavedGuard unsaved={draft !== NEW_TOKEN && !create.isSuccess} />
    </Stack>
  )
}

interface TokenFieldsProps {
  draft: TokenDraft
  errors: Readonly<Record<string, string>>
  onChange: (draft: TokenDraft) => void
}

function TokenFields({ draft, errors, onChange }: TokenFieldsProps) {
  const current = useSession()
  const days = Number(draft.validityDays)
  return (
    <>
      <TextInput
        label="Name"
        description="Says where the token is used, e.g. deploy pipeline."
        required
        autoComplete="off"
        value={draft.name}
        error={errors.name}
        onChange={event => onChange({ ...draft, name: event.currentTarget.value })}
      />
      <NumberInput
        label="Valid for days"
        description={
          isPossible(draft.validityDays) ? `It expires on ${endOf(days)}.` : `From 1 to ${LONGEST_DAYS} days.`
        }
        required
        allowDecimal={false}
        allowNegative={false}
        value={draft.validityDays}
        error={errors.validityDays}
        onChange={validityDays => onChange({ ...draft, validityDays })}
        w={260}
      />
      <ScopePicker
        allowed={current?.scopes ?? []}
        selected={draft.scopes}
        error={draft.scopes.length === 0 ? errors.scopes : undefined}
        onChange={scopes => onChange({ ...draft, scopes })}
      />
    </>
  )
}
