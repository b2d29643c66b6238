import { Stack, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, client, tagged } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { Comparison } from '../../parts/comparison.tsx'
import { isProblem } from '../../parts/field-errors.ts'
import { ButtonLink } from '../../parts/links.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import { type Stored, save } from '../../parts/three-way.ts'
import { ApiForm } from './api-form.tsx'
import { type ApiDraft, draftOf, inputOf, LABELS } from './draft.ts'

const route = getRouteApi('/inside/apis/$apiId/edit')

interface Opened extends Stored<ApiDraft> {
  api: Schemas['Api']
}

async function open(id: string): Promise<Opened> {
  const { body: api, etag } = await tagged(client.GET('/apis/{api_id}', { params: { path: { api_id: id } } }))
  return { api, etag, draft: draftOf(api) }
}

const put = (id: string, draft: ApiDraft, etag: string) =>
  answer(
    client.PUT('/apis/{api_id}', {
      params: { path: { api_id: id }, header: { 'If-Match': etag } },
      body: inputOf(draft),
    }),
  )

/** The page that changes an API. */
export function EditApiPage() {
  const { apiId } = route.useParams()
  // Read once: a later answer must not become the base of what the person has typed.
  const opened = useQuery({
    queryKey: ['api', apiId, 'edited'],
    queryFn: () => open(apiId),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return (
    <Stack>
      <Title order={1} size="h2">
        {opened.data ? `Edit ${opened.data.api.displayName}` : 'Edit API'}
      </Title>
      {opened.isPending && <Loading what="the API" />}
      {opened.isError && (
        <ProblemPanel what="The API cannot be read" error={opened.error} onRetry={() => opened.refetch()} />
      )}
      {opened.data && <Editor key={apiId} id={apiId} opened={opened.data} />}
    </Stack>
  )
}

function Editor({ id, opened }: { id: string; opened: Opened }) {
  const [base, setBase] = useState<Stored<ApiDraft>>(opened)
  const [draft, setDraft] = useState(opened.draft)
  const [theirs, setTheirs] = useState<Stored<ApiDraft>>()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const saving = useMutation({
    mutationFn: ({ mine, over }: { mine: ApiDraft; over: Stored<ApiDraft> }) =>
      save({
        base: over,
        mine,
        put: (given, etag) => put(id, given, etag),
        read: () => open(id),
        isStale: error => isProblem(error, 'precondition-failed'),
      }),
    async onSuccess(conflicting, { mine }) {
      setTheirs(conflicting)
      if (conflicting) return
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['api', id], refetchType: 'none' }),
        queries.invalidateQueries({ queryKey: ['apis'] }),
      ])
      notifyDone(`${mine.displayName} is saved`)
      await navigate({ to: '/apis/$apiId', params: { apiId: id }, ignoreBlocker: true })
    },
    // The form shows which of the chosen values was refused.
    onError: () => setTheirs(undefined),
  })
  // The choices are kept when the request fails or meets a second conflict.
  const decide = (mine: ApiDraft, over: Stored<ApiDraft>) =>
    saving.mutate(
      { mine, over },
      {
        onSettled() {
          setDraft(mine)
          setBase(over)
        },
      },
    )
  return (
    <>
      <ApiForm
        draft={draft}
        stored={base.draft}
        onChange={setDraft}
        onSubmit={() => saving.mutate({ mine: draft, over: base })}
        submission={{ ...saving, variables: saving.variables?.mine }}
        action="Save"
        failed="The API is not saved"
        ownerName={opened.api.ownerDisplayName}
        cancel={
          <ButtonLink variant="default" to="/apis/$apiId" params={{ apiId: id }}>
            Cancel
          </ButtonLink>
        }
      />
      {theirs && (
        <Comparison
          // A second conflict is another comparison, without the choices of the first one.
          key={theirs.etag}
          what="API"
          base={base.draft}
          mine={draft}
          theirs={theirs.draft}
          labels={LABELS}
          textOf={value => (Array.isArray(value) ? value.join(', ') : value)}
          saving={saving.isPending}
          onSave={merged => decide(merged, theirs)}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </>
  )
}
