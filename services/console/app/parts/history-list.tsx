import { Button, Code, Paper, Stack, Text } from '@mantine/core'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { Schemas } from '../http/schemas.ts'
import { Changes, type Labels, remarkable } from './changes.tsx'
import classes from './history-list.module.css'
import { secondOf } from './local-time.ts'
import { ProblemPanel } from './problem-panel.tsx'
import { Empty, Loading } from './states.tsx'
import { exactTime, Time } from './time.tsx'

type Entry = Schemas['HistoryEntry']
type HistoryResult = UseInfiniteQueryResult<InfiniteData<{ content: Entry[] }>>

interface HistoryListProps {
  history: HistoryResult
  /** An entry in words. */
  titleOf: (entry: Entry) => string
  /** Shows the state after a change; absent where states cannot be shown. */
  onShow?: (at: string) => void
  /** The time of the shown state. */
  shown?: string | undefined
  /** The names of the fields as their form has them. */
  labels?: Labels
}

/** The changes of a record, newest first, with the difference of each field. */
export function HistoryList({ history, titleOf, onShow, shown, labels }: HistoryListProps) {
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
      {history.isSuccess && entries.length === 0 && (
        <Empty title="No changes yet">A change appears here within seconds.</Empty>
      )}
      <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
        {entries.map(entry => (
          <li key={entry.id}>
            <HistoryItem
              entry={entry}
              title={titleOf(entry)}
              onShow={onShow}
              labels={labels}
              current={entry.timestamp === shown}
            />
          </li>
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
  title: string
  onShow: ((at: string) => void) | undefined
  labels: Labels | undefined
  current: boolean
}

function HistoryItem({ entry, title, onShow, labels, current }: HistoryItemProps) {
  const { timestamp, restoredTo, environment } = entry
  // The title says what an environment got. The status is that of all environments together.
  const changes = remarkable(entry.changes).filter(
    ({ path }) => environment === null || path !== '/deploymentStatus',
  )
  return (
    <Paper
      component="article"
      aria-label={title}
      withBorder
      p="sm"
      className={classes.card}
      style={current ? { borderColor: 'var(--mantine-primary-color-filled)' } : {}}
    >
      <div className={classes.entry}>
        <div className={classes.what}>
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Text>
          <Text size="sm">
            {secondOf(timestamp)} (<Time at={timestamp} />)
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
            flex="none"
            aria-label={`Show this state: ${title}, ${exactTime(timestamp)}`}
            onClick={() => onShow(timestamp)}
          >
            Show this state
          </Button>
        )}
        {changes.length > 0 && (
          <div className={classes.changes}>
            <Changes changes={changes} labels={labels} />
          </div>
        )}
      </div>
    </Paper>
  )
}

/** The user or the part of the service that caused an entry, after a word that leads to it. */
export function By({ who, prefix = ' by' }: { who: Entry['who'] | undefined; prefix?: string }) {
  if (!who) return null
  return (
    <>
      {prefix} {who.displayName ?? who.username ?? <Code>{who.id}</Code>}
    </>
  )
}
