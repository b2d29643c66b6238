import { Grid, Group, Stack, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { useEnvironmentNames } from '../../parts/environments.ts'
import { HistoryList } from '../../parts/history-list.tsx'
import { AnchorLink } from '../../parts/links.tsx'
import { LABELS } from '../form/draft.ts'
import classes from './history-tab.module.css'
import { titleOf, versionNamesIn } from './operations.ts'
import { PastState } from './past-state.tsx'
import { historyQuery, versionsQuery } from './reads.ts'
import { readApiPageSearch } from './search.ts'
import { TimeSlider } from './time-slider.tsx'

const route = getRouteApi('/inside/apis/$apiId')

interface HistoryTabProps {
  id: string
  /** The API as it is; absent if it was deleted. */
  now?: { api: Schemas['Api']; etag: string }
}

/** How an API became what it is: its changes, and its state at any of them. */
export function HistoryTab({ id, now }: HistoryTabProps) {
  const history = useInfiniteQuery(historyQuery(id))
  const mayReadEvents = useAllowed('AUDIT_LOG_READ')
  // The router also passes on what the route has left out.
  const { at } = readApiPageSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const show = (time: string | undefined) =>
    navigate({
      search: ({ at: _, ...rest }) => ({ ...rest, ...(time && { at: time }) }),
      replace: true,
      resetScroll: false,
    })
  const entries = history.data?.pages.flatMap(({ content }) => content) ?? []
  const moments = [...new Set(entries.map(({ timestamp }) => timestamp))].reverse()
  const read = useInfiniteQuery({ ...versionsQuery(id), enabled: now !== undefined })
  const listed = read.data?.pages.flatMap(({ content }) => content) ?? []
  const versions = new Map([...versionNamesIn(entries), ...listed.map(({ id, name }) => [id, name] as const)])
  const environments = useEnvironmentNames()
  return (
    <Stack>
      {moments.length > 0 && <TimeSlider moments={moments} at={at} onChange={show} />}
      <Grid>
        <Grid.Col span={{ base: 12, md: at ? 6 : 12 }}>
          <Group justify="space-between" mb="sm">
            <Title order={2} size="h4">
              Changes
            </Title>
            {mayReadEvents && (
              <AnchorLink to="/events" search={{ api: id, since: '7d' }} size="sm">
                Events of the last 7 days
              </AnchorLink>
            )}
          </Group>
          <HistoryList
            history={history}
            titleOf={entry => titleOf(entry, { versions, environments })}
            onShow={show}
            shown={at}
            labels={LABELS}
          />
        </Grid.Col>
        {at && (
          <Grid.Col span={{ base: 12, md: 6 }} order={{ base: -1, md: 1 }} className={classes.state}>
            <PastState id={id} at={at} now={now} onBack={() => show(undefined)} />
          </Grid.Col>
        )}
      </Grid>
    </Stack>
  )
}
