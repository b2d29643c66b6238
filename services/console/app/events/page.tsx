import '../more-styles.ts'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { asProblem } from '../http/problem.ts'
import { secondOf } from '../parts/local-time.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Split } from '../parts/split.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { type FeedEvent, STEP } from './buffer.ts'
import { ConnectionBadge, LostConnection } from './connection-state.tsx'
import { EventDetail } from './detail.tsx'
import type { Feed, FeedState } from './feed.ts'
import { Filters } from './filters.tsx'
import { EventList } from './list.tsx'
import {
  type EventsSearch,
  isOldestFirst,
  lengthOf,
  type Period,
  periodOf,
  readEventsSearch,
  readOf,
} from './search.ts'
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
  const oldestFirst = isOldestFirst(search)
  const events = oldestFirst ? received : received.toReversed()
  const selected = useSelected(events, search.event)
  const change = (changed: object, replace = false) =>
    navigate({ search: before => ({ ...before, ...changed }) as EventsSearch, replace, resetScroll: false })
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1} size="h2">
          Events
        </Title>
        <Controls feed={feed} state={state} oldestFirst={oldestFirst} />
      </Group>
      {/* Other filters close the event, which they may exclude. */}
      <Filters search={search} onChange={changed => change({ event: undefined, ...changed })} />
      {trace && (
        <Group gap="xs">
          <Text size="sm">
            Only the {events.length.toLocaleString('en')} received events of the trace {trace}
          </Text>
          <Button size="compact-sm" variant="default" onClick={() => change({ trace: undefined })}>
            Show all traces
          </Button>
        </Group>
      )}
      <LostConnection feed={feed} connection={state.connection} />
      <Refused state={state} onChange={change} onRetry={() => setRound(round + 1)} />
      <Removed
        count={state.removed}
        shown={state.shown}
        onOldest={periodOf(search) === 'all' ? undefined : () => change(OLDEST)}
      />
      <Split
        selected={selected?.id}
        onBack={() => change({ event: undefined }, true)}
        list={
          events.length === 0 ? (
            <Nothing state={state} search={search} onChange={change} />
          ) : (
            <EventList
              key={String(oldestFirst)}
              events={events}
              added={oldestFirst ? -state.removed : events.length + (trace ? 0 : state.removed)}
              end={oldestFirst ? 'oldest' : 'newest'}
              isPart={state.paused && state.waiting > 0}
              selected={search.event}
              onSelect={({ id }) => change({ event: id }, true)}
            >
              {oldestFirst && state.paused && state.waiting > 0 && (
                <Button size="xs" onClick={() => feed.show(STEP)}>
                  Load {STEP} more
                </Button>
              )}
            </EventList>
          )
        }
        detail={
          selected && <EventDetail event={selected} onClose={() => change({ event: undefined }, true)} />
        }
      />
    </Stack>
  )
}

/** The search that begins with the oldest event and has it at the top. */
const OLDEST = { since: 'all', from: undefined, after: undefined } as const

/** The selected event. It stays when it is removed from the list. */
function useSelected(events: readonly FeedEvent[], id: string | undefined): FeedEvent | undefined {
  const last = useRef<FeedEvent>(undefined)
  if (id === undefined) return undefined
  if (last.current?.id !== id) last.current = events.find(event => event.id === id) ?? last.current
  return last.current?.id === id ? last.current : undefined
}

/** More events are loaded at the end of the list where they appear: here, or below the list. */
function Controls({ feed, state, oldestFirst }: { feed: Feed; state: FeedState; oldestFirst: boolean }) {
  const { connection, paused } = state
  const isOver = ['reading', 'ended', 'refused'].includes(connection.kind)
  const waiting = state.waiting.toLocaleString('en')
  const most = connection.kind === 'full' ? `more than ${waiting}` : waiting
  return (
    <Group gap="xs">
      <ConnectionBadge state={state} />
      {paused && connection.kind !== 'reading' && (
        <Text size="sm" component="output">
          {most} waiting
        </Text>
      )}
      {!oldestFirst && paused && state.waiting > STEP && (
        <Button size="xs" variant="default" onClick={() => feed.show(STEP)}>
          Show the next {STEP}
        </Button>
      )}
      {(paused || !isOver) && (
        <Button
          size="xs"
          variant={paused ? 'filled' : 'default'}
          onClick={() => (paused ? feed.show() : feed.pause())}
        >
          {paused ? 'Resume' : 'Pause'}
        </Button>
      )}
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

interface RemovedProps {
  count: number
  shown: readonly FeedEvent[]
  /** Begins with the oldest event; absent where the feed has begun with it. */
  onOldest: (() => void) | undefined
}

function Removed({ count, shown, onOldest }: RemovedProps) {
  const [first] = shown
  if (count === 0 || !first) return null
  if (!onOldest)
    return (
      <Text size="sm">
        The list begins at {secondOf(first.time)}. The {count.toLocaleString('en')} events before were removed
        from it to limit its memory.
      </Text>
    )
  return (
    <Group gap="xs">
      <Text size="sm">
        The list begins at {secondOf(first.time)} with the newest {shown.length.toLocaleString('en')} events.
        The {count.toLocaleString('en')} before them are left out: choose filters or another beginning.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onOldest}>
        Show the oldest event first
      </Button>
    </Group>
  )
}

/** Filters, which may leave out all events. */
const FILTERS = ['type', 'api', 'webhook', 'user', 'trace'] as const

function Nothing({ state, search, onChange }: PartProps & { search: EventsSearch }) {
  const { kind } = state.connection
  if (kind === 'refused') return null
  if (kind === 'connecting' || kind === 'reading' || kind === 'lost') return <Progress state={state} />
  const period = periodOf(search)
  const begin = (since: Period | 'all') => onChange({ since, from: undefined, after: undefined })
  const such = FILTERS.some(name => search[name]) ? 'No such events' : 'No events'
  return (
    <Empty title={`${such} ${kind === 'ended' ? 'in this period' : sinceWhen(search)}`}>
      <Stack gap="xs" align="center">
        <Text>
          {kind === 'ended' ? 'Change the times or the filters.' : 'New events appear here as they happen.'}
        </Text>
        <Group gap="xs" justify="center">
          {period && period !== '7d' && period !== 'all' && (
            <Button variant="default" onClick={() => begin('7d')}>
              Show the last 7 days
            </Button>
          )}
          {(!period || period === '7d') && (
            <Button variant="default" onClick={() => begin('all')}>
              Begin with the oldest event
            </Button>
          )}
        </Group>
      </Stack>
    </Empty>
  )
}

function sinceWhen(search: EventsSearch): string {
  const length = lengthOf(search)
  if (length) return `in ${length.label.toLowerCase()}`
  return periodOf(search) ? 'yet' : 'since then'
}

/** How far a long period is read. A screen reader hears only that it is being read. */
function Progress({ state: { received, reached } }: { state: FeedState }) {
  return (
    <Stack gap={0}>
      <Loading what="the events" />
      {reached && (
        <Text size="sm" ta="center" aria-hidden>
          {received.toLocaleString('en')} {received === 1 ? 'event' : 'events'} up to {secondOf(reached)}
        </Text>
      )}
    </Stack>
  )
}
