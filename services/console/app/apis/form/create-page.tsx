import { Group, Stack, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { useIdempotencyKey } from '../../parts/idempotency.ts'
import { ButtonLink } from '../../parts/links.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { Trail } from '../../parts/trail.tsx'
import { ApiForm } from './api-form.tsx'
import { type ApiDraft, complete, EMPTY_DRAFT, inputOf } from './draft.ts'

/** The page that creates an API. */
export function CreateApiPage() {
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const keys = useIdempotencyKey()
  const creation = useMutation({
    async mutationFn(given: ApiDraft) {
      const body = inputOf(complete(given))
      return answer(client.createApi({ body }, { idempotencyKey: keys.for(body) }))
    },
    async onSuccess(api) {
      keys.done()
      queries.invalidateQueries({ queryKey: ['apis'] })
      notifyDone(`${api.displayName} is created`)
      await navigate({ to: '/apis/$apiId', params: { apiId: api.id }, ignoreBlocker: true })
    },
  })
  return (
    <Stack>
      <Trail to="/apis" label="APIs" page="Create API" />
      <Group justify="space-between">
        <Title order={1} size="h2">
          Create API
        </Title>
        <ButtonLink variant="subtle" to="/apis/import">
          Import it from a document
        </ButtonLink>
      </Group>
      <ApiForm
        draft={draft}
        stored={EMPTY_DRAFT}
        onChange={setDraft}
        onSubmit={() => creation.mutate(draft)}
        submission={creation}
        action="Create API"
        failed="The API is not created"
        cancel={
          <ButtonLink variant="default" to="/apis">
            Cancel
          </ButtonLink>
        }
      />
    </Stack>
  )
}
