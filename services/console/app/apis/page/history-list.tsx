import { Button, Code, Group, Paper, Stack, Text } from '@mantine/core'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { Schemas } from '../../http/schemas.ts'
import { Changes, remarkable } from '../../parts/changes.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import { exactTime, Time } from '../../parts/time.tsx'

type Entry = Schemas['HistoryEntry']
type HistoryResult = UseInfiniteQueryResult<InfiniteData<{ content: Entry[] }>>

interface HistoryListProps {
  history: HistoryResult
  /** Shows the state after a change; absent where states cannot be shown. */
  onShow?: (at: string) => void
  /** The time of the shown state. */
  shown?: string | undefined
}

/** The changes of a record, newest first, with the difference of each field. */
export function HistoryList({ history, onShow, shown }: HistoryListProps) {
  const entries = history.data?.pages.flatMap(({ content }) => content) ?? []
  return (
    <Stack>
      {history.isPending && <Loading what="the history" />}
      {history.isError && (
        <ProblemPanel
          what="The history cannot be read"
          error={history.error}
          onRetry={() => history.refetch()}
        />
      )}
      <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
        {entries.map(entry => (
          <HistoryItem key={entry.id} entry={entry} onShow={onShow} current={entry.timestamp === shown} />
        ))}
      </Stack>
      {history.hasNextPage && (
        <Button
          variant="default"
          loading={history.isFetchingNextPage}
          onClick={() => history.fetchNextPage()}
          style={{ alignSelf: 'center' }}
        >
          Show older changes
        </Button>
      )}
    </Stack>
  )
}

interface HistoryItemProps {
  entry: Entry
  onShow: ((at: string) => void) | undefined
  current: boolean
}

function HistoryItem({ entry, onShow, current }: HistoryItemProps) {
  const changes = remarkable(entry.changes)
  const { timestamp, restoredTo } = entry
  return (
    <Paper
      component="li"
      withBorder
      p="sm"
      style={current ? { borderColor: 'var(--mantine-primary-color-filled)' } : {}}
    >
      <Group justify="space-between" align="start">
        <div>
          <Text fw={600}>{titleOf(entry)}</Text>
          <Text size="sm">
            <Time at={timestamp} />
            <By who={entry.who} />
            {restoredTo && (
              <>
                , to the state of <Time at={restoredTo} />
              </>
            )}
          </Text>
        </div>
        {onShow && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Show this state: ${titleOf(entry)}, ${exactTime(timestamp)}`}
            onClick={() => onShow(timestamp)}
          >
            Show this state
          </Button>
        )}
      </Group>
      {changes.length > 0 && <Changes changes={changes} />}
    </Paper>
  )
}

function By({ who }: { who: Entry['who'] }) {
  if (!who) return null
  const name = who.displayName ?? who.username
  return <> by {name ?? <Code>{who.id}</Code>}</>
}

const TITLES: Readonly<Record<string, string>> = {
  API_CREATED: 'Created',
  API_UPDATED: 'Changed',
  API_RESTORED: 'Restored',
  API_DELETED: 'Deleted',
  API_DEPLOYMENT_STARTED: 'Deployment started',
  API_UNDEPLOYMENT_STARTED: 'Undeployment started',
  API_DEPLOYED: 'Deployed',
  API_UNDEPLOYED: 'Undeployed',
  API_DEPLOYMENT_FAILED: 'Deployment failed',
  API_IMAGE_UPDATED: 'Image changed',
  API_IMAGE_DELETED: 'Image deleted',
  API_VERSION_CREATED: 'Version created',
  API_VERSION_UPDATED: 'Version changed',
  API_VERSION_DELETED: 'Version deleted',
}

/** What has happened, in words. Operations that the console does not know keep their names. */
const titleOf = ({ operation }: Entry): string => TITLES[operation] ?? operation
