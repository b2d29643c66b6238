import '../more-styles.ts'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { asProblem } from '../http/problem.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Split } from '../parts/split.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { type FeedEvent, STEP } from './buffer.ts'
import { ConnectionBadge, LostConnection } from './connection-state.tsx'
import { EventDetail } from './detail.tsx'
import type { Feed, FeedState } from './feed.ts'
import { Filters } from './filters.tsx'
import { EventList } from './list.tsx'
import { type EventsSearch, readEventsSearch, readOf } from './search.ts'
import { useFeed } from './use-feed.ts'

const route = getRouteApi('/inside/events')

/** The public events as they happen, from a chosen place on. */
export function EventsPage() {
  // The router also passes on what the route has left out.
  const search = readEventsSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const [round, setRound] = useState(0)
  const { feed, state } = useFeed(readOf(search), round)
  const { trace } = search
  const received = trace ? state.shown.filter(({ traceId }) => traceId === trace) : state.shown
  const events = received.toReversed()
  const selected = useSelected(events, search.event)
  const change = (changed: object, replace = false) =>
    navigate({ search: before => ({ ...before, ...changed }) as EventsSearch, replace })
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1} size="h2">
          Events
        </Title>
        <Controls feed={feed} state={state} />
      </Group>
      {/* Other filters close the event, which they may exclude. */}
      <Filters search={search} onChange={changed => change({ event: undefined, ...changed })} />
      {trace && (
        <Group gap="xs">
          <Text size="sm">
            Only the {events.length} received events of the trace {trace}
          </Text>
          <Button size="compact-sm" variant="default" onClick={() => change({ trace: undefined })}>
            Show all traces
          </Button>
        </Group>
      )}
      <LostConnection feed={feed} connection={state.connection} />
      <Refused state={state} onChange={change} onRetry={() => setRound(round + 1)} />
      <Removed count={state.removed} />
      <Split
        list={
          events.length === 0 ? (
            <Nothing state={state} search={search} onChange={change} />
          ) : (
            <EventList
              events={events}
              received={events.length + (trace ? 0 : state.removed)}
              selected={search.event}
              onSelect={({ id }) => change({ event: id }, true)}
            />
          )
        }
        detail={
          selected && <EventDetail event={selected} onClose={() => change({ event: undefined }, true)} />
        }
      />
    </Stack>
  )
}

/** The selected event. It stays when it is removed from the list. */
function useSelected(events: readonly FeedEvent[], id: string | undefined): FeedEvent | undefined {
  const last = useRef<FeedEvent>(undefined)
  if (id === undefined) return undefined
  if (last.current?.id !== id) last.current = events.find(event => event.id === id) ?? last.current
  return last.current?.id === id ? last.current : undefined
}

function Controls({ feed, state }: { feed: Feed; state: FeedState }) {
  const { connection, paused, waiting } = state
  const most = connection.kind === 'full' ? `more than ${waiting}` : waiting
  return (
    <Group gap="xs">
      <ConnectionBadge state={state} />
      {paused && (
        <Text size="sm" component="output">
          {most} waiting
        </Text>
      )}
      {paused && waiting > STEP && (
        <Button size="xs" variant="default" onClick={() => feed.show(STEP)}>
          Show the next {STEP}
        </Button>
      )}
      <Button
        size="xs"
        variant={paused ? 'filled' : 'default'}
        onClick={() => (paused ? feed.show() : feed.pause())}
      >
        {paused ? 'Resume' : 'Pause'}
      </Button>
    </Group>
  )
}

interface PartProps {
  state: FeedState
  onChange(change: object): void
}

/** A refused request. If events were removed because of their age, the feed can begin with the oldest one. */
function Refused({ state: { connection }, onChange, onRetry }: PartProps & { onRetry(): void }) {
  if (connection.kind !== 'refused') return null
  const oldest = asProblem(connection.error).members?.oldestPosition
  return (
    <Stack gap="xs">
      <ProblemPanel what="The events cannot be read" error={connection.error} onRetry={onRetry} />
      {typeof oldest === 'string' && (
        <Group>
          <Button
            variant="default"
            onClick={() => onChange({ after: oldest, from: undefined, since: undefined })}
          >
            Continue with the oldest event
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Removed({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <Text size="sm">{count} earlier events were removed from the end of the list to limit its memory.</Text>
  )
}

function Nothing({ state: { connection }, search, onChange }: PartProps & { search: EventsSearch }) {
  const { kind } = connection
  if (kind === 'refused') return null
  if (kind === 'connecting' || kind === 'reading' || kind === 'lost') return <Loading what="the events" />
  return (
    <Empty title={kind === 'ended' ? 'No events in this period' : 'No events yet'}>
      <Stack gap="xs" align="center">
        <Text>
          {kind === 'ended'
            ? 'Change the times or the filters.'
            : 'New events appear here as they happen. Earlier ones may be before the beginning.'}
        </Text>
        {search.since !== 'all' && (
          <Button
            variant="default"
            onClick={() => onChange({ since: 'all', from: undefined, after: undefined })}
          >
            Begin with the oldest event
          </Button>
        )}
      </Stack>
    </Empty>
  )
}
