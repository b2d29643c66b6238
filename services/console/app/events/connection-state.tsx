import { Alert, Button, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { adviceOn, asProblem } from '../http/problem.ts'
import { StateBadge } from '../parts/state-badge.tsx'
import type { Connection, Feed, FeedState } from './feed.ts'

const LABELS: Record<Connection['kind'], { text: string; color: string }> = {
  connecting: { text: 'Connecting', color: 'gray' },
  reading: { text: 'Reading', color: 'blue' },
  live: { text: 'Live', color: 'teal' },
  lost: { text: 'Reconnecting', color: 'orange' },
  full: { text: 'Paused', color: 'orange' },
  refused: { text: 'Refused', color: 'red' },
  ended: { text: 'Complete', color: 'gray' },
}

/** Whether new events arrive, as a word. */
export function ConnectionBadge({ state }: { state: FeedState }) {
  const { text, color } = LABELS[state.connection.kind]
  const { kind } = state.connection
  const isPaused = kind === 'full' || (state.paused && kind === 'live')
  return (
    <div role="status" aria-label="Connection">
      <StateBadge color={isPaused ? 'orange' : color}>
        {isPaused ? (state.pausedByHand || state.waiting === 0 ? 'Paused' : 'More to load') : text}
      </StateBadge>
    </div>
  )
}

/** A lost connection: why, and when the next attempt is. */
export function LostConnection({ feed, connection }: { feed: Feed; connection: Connection }) {
  if (connection.kind !== 'lost') return null
  const problem = asProblem(connection.error)
  return (
    <Alert color="yellow" title={`No new events: ${problem.title}`} role="alert">
      <Group justify="space-between">
        <Text size="sm">
          {problem.detail} {problem.status > 0 && adviceOn(problem)} No event is lost: the feed continues
          after the last one. <NextAttempt at={connection.retryAt} />
        </Text>
        <Button size="xs" variant="default" onClick={feed.retry}>
          Try now
        </Button>
      </Group>
    </Alert>
  )
}

function NextAttempt({ at }: { at: number }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.ceil((at - now) / 1_000)
  // Not announced every second.
  return <span aria-hidden>{seconds > 0 ? `Next attempt in ${seconds} s.` : 'Trying again.'}</span>
}
