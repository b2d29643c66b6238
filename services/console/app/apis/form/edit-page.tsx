import { Stack, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { client, tagged } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useEdited } from '../../parts/edited.tsx'
import { ButtonLink } from '../../parts/links.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import type { Stored } from '../../parts/three-way.ts'
import { Trail } from '../../parts/trail.tsx'
import { ApiForm } from './api-form.tsx'
import { type ApiDraft, complete, draftOf, inputOf, LABELS } from './draft.ts'

const route = getRouteApi('/inside/apis/$apiId/edit')

interface Opened extends Stored<ApiDraft> {
  api: Schemas['Api']
}

async function open(id: string): Promise<Opened> {
  return openedOf(await tagged(client.getApi({ api_id: id })))
}

async function put(id: string, draft: ApiDraft, ifMatch: string): Promise<Opened> {
  return openedOf(await tagged(client.updateApi({ api_id: id, body: inputOf(complete(draft)) }, { ifMatch })))
}

const openedOf = ({ body: api, etag }: { body: Schemas['Api']; etag: string }): Opened => ({
  api,
  etag,
  draft: draftOf(api),
})

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
      <Trail
        to="/apis"
        label="APIs"
        api={opened.data && { id: apiId, name: opened.data.api.displayName }}
        page="Edit"
      />
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
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const { base, draft, setDraft, save, saving, comparison } = useEdited<ApiDraft>({
    opened,
    put: (mine, etag) => put(id, mine, etag),
    read: () => open(id),
    async onSaved({ displayName }) {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['api', id], refetchType: 'none' }),
        queries.invalidateQueries({ queryKey: ['apis'] }),
      ])
      notifyDone(`${displayName} is saved`)
      await navigate({ to: '/apis/$apiId', params: { apiId: id }, ignoreBlocker: true })
    },
    what: 'API',
    labels: LABELS,
    textOf: value => (Array.isArray(value) ? value.join(', ') : value),
  })
  return (
    <>
      <ApiForm
        draft={draft}
        stored={base.draft}
        onChange={setDraft}
        onSubmit={save}
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
      {comparison}
    </>
  )
}
