import { Paper, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import type { Sort } from '../http/schemas.ts'
import { useAllowed, useSession } from '../http/session.ts'
import { isProblem } from '../parts/field-errors.ts'
import { AnchorLink } from '../parts/links.tsx'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { TokensTable } from './tokens-table.tsx'

const SIZE = 10

/** The access tokens of a user, which an administrator may revoke. */
export function UserTokens({ user }: { user: string }) {
  const [sort, setSort] = useState('createdAt,desc')
  const [page, setPage] = useState(1)
  const mayRevoke = useAllowed('USER_WRITE')
  const isOwn = useSession()?.user.id === user
  const tokens = useQuery({
    queryKey: ['tokens', 'of', user, sort, page],
    queryFn: ({ signal }) => {
      return answer(
        client.listUserAccessTokens(
          { user_id: user, sort: [sort as Sort<'listAccessTokens'>], page, size: SIZE },
          { signal },
        ),
      )
    },
    placeholderData: keepPreviousData,
  })
  return (
    <Paper withBorder p="md" component="section" aria-label="Access tokens of the user">
      <Stack>
        <Title order={2} size="h4">
          Access tokens
        </Title>
        <Text size="sm">
          {isOwn ? (
            <>
              You create tokens on the page{' '}
              <AnchorLink to="/tokens" inherit underline="always">
                Access tokens
              </AnchorLink>
              .
            </>
          ) : (
            'Only the users themselves can create tokens, on their page Access tokens.'
          )}
        </Text>
        {/* The page says that the user has been deleted. */}
        {tokens.isError && !isProblem(tokens.error, 'user-not-found') && (
          <ProblemPanel
            what="The access tokens cannot be listed"
            error={tokens.error}
            onRetry={() => void tokens.refetch()}
          />
        )}
        {tokens.data?.totalElements === 0 && (
          <Text size="sm">{isOwn ? 'You have none.' : 'The user has no access token.'}</Text>
        )}
        {tokens.data && tokens.data.content.length > 0 && (
          <>
            <TokensTable
              tokens={tokens.data.content}
              sort={sort}
              onSort={setSort}
              owner={user}
              revocable={mayRevoke}
            />
            <Pages what="tokens" page={tokens.data} onPage={setPage} />
          </>
        )}
      </Stack>
    </Paper>
  )
}
