import { Button, Group, useMantineTheme } from '@mantine/core'
import { useLayoutEffect, useRef, useState } from 'react'
import { timeWithMilliseconds } from '../parts/local-time.ts'
import { RowList, type Rows, useRows } from '../parts/rows.tsx'
import { Actor } from './actor.tsx'
import type { FeedEvent } from './buffer.ts'
import { groupOf, subjectOf } from './describe.ts'
import classes from './events.module.css'

interface EventListProps {
  events: readonly FeedEvent[]
  /** Number of events that were removed from the beginning of the list. */
  removed: number
  selected: string | undefined
  onSelect(event: FeedEvent): void
}

/** The events in the order of the feed. The list stays at its end while the person has not scrolled away from it. */
export function EventList({ events, removed, selected, onSelect }: EventListProps) {
  const rows = useRows(events.length, index => events[index]?.id ?? String(index))
  const { atEnd, toEnd } = useEnd({
    rows,
    removed,
    newest: events.at(-1)?.id,
    follows: selected === undefined,
  })
  return (
    <div>
      <RowList
        rows={rows}
        label="Events"
        rowClass={classes.row}
        above={340}
        selected={events.findIndex(({ id }) => id === selected)}
        onSelect={index => {
          const event = events[index]
          if (event) onSelect(event)
        }}
      >
        {index => {
          const event = events[index]
          return event && <EventCells event={event} />
        }}
      </RowList>
      <Group justify="end" mt="xs" mih={30}>
        {!atEnd && (
          <Button size="xs" variant="default" onClick={toEnd}>
            Go to the newest
          </Button>
        )}
      </Group>
    </div>
  )
}

interface EndOptions {
  rows: Rows
  removed: number
  newest: string | undefined
  /** Whether the list stays at its end. */
  follows: boolean
}

/** Keeps the list at its end, or else at the same rows while old ones are removed. */
function useEnd({ rows, removed, newest, follows }: EndOptions) {
  const { list, virtual, height } = rows
  const { count } = virtual.options
  const [atEnd, setAtEnd] = useState(true)
  const removedBefore = useRef(removed)
  useLayoutEffect(() => {
    const gone = removed - removedBefore.current
    removedBefore.current = removed
    if (atEnd && follows && newest) virtual.scrollToIndex(count - 1, { align: 'end' })
    else if (gone > 0 && list.current)
      list.current.scrollTop = Math.max(0, list.current.scrollTop - gone * height)
  }, [list, virtual, height, removed, newest, count, atEnd, follows])
  useLayoutEffect(() => {
    const element = list.current
    const onScroll = () => {
      if (element) setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < height)
    }
    element?.addEventListener('scroll', onScroll, { passive: true })
    return () => element?.removeEventListener('scroll', onScroll)
  }, [list, height])
  return { atEnd, toEnd: () => virtual.scrollToIndex(count - 1, { align: 'end' }) }
}

function EventCells({ event }: { event: FeedEvent }) {
  const { colors } = useMantineTheme()
  const { color } = groupOf(event.type)
  return (
    <>
      <span className={classes.time}>{timeWithMilliseconds(event.time)}</span>
      <span className={classes.type}>
        <span className={classes.dot} style={{ background: colors[color]?.[6] }} aria-hidden />
        {event.type}
      </span>
      <span className={classes.subject}>{subjectOf(event)}</span>
      <span className={classes.actor}>
        <Actor actor={event.actor} />
      </span>
    </>
  )
}
