import { AnchorLink, ButtonLink } from '../parts/links.tsx'
import '../more-styles.ts'
import { Alert, Group, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import type { Schemas, Sort } from '../http/schemas.ts'
import { EmptyPage, isBeyondEnd } from '../parts/empty-page.tsx'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { readTokenSearch } from './search.ts'
import { expiryOf } from './token-expiry.ts'
import { TokensTable } from './tokens-table.tsx'

const route = getRouteApi('/inside/tokens')
const SIZE = 50
const SORT = 'createdAt,desc'

/** The access tokens of the signed-in user. */
export function TokensPage() {
  const { sort = SORT, page = 1 } = readTokenSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const tokens = useQuery({
    queryKey: ['tokens', sort, page],
    queryFn: ({ signal }) =>
      answer(
        client.listAccessTokens({ sort: [sort as Sort<'listAccessTokens'>], page, size: SIZE }, { signal }),
      ),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Access tokens
        </Title>
        <ButtonLink to="/tokens/new">Create token</ButtonLink>
      </Group>
      <Text size="sm" maw="44rem">
        An access token lets a program act as you, with the scopes that you give it and as far as your role
        allows them. These are your own tokens. Administrators see their names and scopes and can revoke them;
        nobody sees their text again.
      </Text>
      {tokens.isPending && <Loading what="the access tokens" />}
      {tokens.isError && (
        <ProblemPanel
          what="The access tokens cannot be listed"
          error={tokens.error}
          onRetry={() => void tokens.refetch()}
        />
      )}
      {tokens.data?.totalElements === 0 && (
        <Empty title="You have no access token">
          <AnchorLink to="/tokens/new">Create the first one</AnchorLink>
        </Empty>
      )}
      {tokens.data && isBeyondEnd(tokens.data) && (
        <EmptyPage onFirst={() => navigate({ search: { sort }, replace: true })} />
      )}
      {tokens.data && tokens.data.content.length > 0 && (
        <>
          <Warning tokens={tokens.data.content} />
          <TokensTable
            tokens={tokens.data.content}
            sort={sort}
            onSort={sort => navigate({ search: { sort }, replace: true })}
          />
          <Pages
            what="tokens"
            one="token"
            page={tokens.data}
            onPage={page => navigate({ search: { sort, ...(page > 1 && { page }) }, replace: true })}
          />
        </>
      )}
    </Stack>
  )
}

function Warning({ tokens }: { tokens: readonly Schemas['AccessToken'][] }) {
  const soon = tokens.filter(token => expiryOf(token) === 'soon').map(({ name }) => name)
  if (soon.length === 0) return null
  return (
    <Alert color="yellow" title={soon.length === 1 ? 'A token expires soon' : 'Tokens expire soon'}>
      Programs that use {new Intl.ListFormat('en').format(soon)} need another token before then. A token
      cannot be prolonged.
    </Alert>
  )
}
