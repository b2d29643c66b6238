import { Button, Group } from '@mantine/core'
import { useLayoutEffect, useRef, useState } from 'react'
import { timeWithMilliseconds } from '../parts/local-time.ts'
import { RowList, type Rows, useRows } from '../parts/rows.tsx'
import { toneOf } from '../parts/state-badge.tsx'
import { Actor } from './actor.tsx'
import type { FeedEvent } from './buffer.ts'
import { groupOf } from './describe.ts'
import classes from './events.module.css'
import { Subject } from './subject.tsx'

interface EventListProps {
  /** The newest one first. */
  events: readonly FeedEvent[]
  /** Number of events that were in the list so far, with those that were removed from its end. */
  received: number
  selected: string | undefined
  onSelect(event: FeedEvent): void
}

const HEADS = ['Time', 'Event', 'Subject', 'By']

/** The events, the newest one first. The list stays at its beginning while the person has not scrolled away from it. */
export function EventList({ events, received, selected, onSelect }: EventListProps) {
  const rows = useRows(events.length, index => events[index]?.id ?? String(index), selected !== undefined)
  const { atTop, toTop } = useTop(rows, received, selected === undefined)
  return (
    <div>
      <RowList
        rows={rows}
        label="Events"
        rowClass={classes.row}
        heads={HEADS}
        above={375}
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
        {!atTop && (
          <Button size="xs" variant="default" onClick={toTop}>
            Go to the newest
          </Button>
        )}
      </Group>
    </div>
  )
}

/** Keeps the list at its beginning, or else at the same rows while new ones come. @param follows whether it may move */
function useTop({ list, height }: Rows, received: number, follows: boolean) {
  const [atTop, setAtTop] = useState(true)
  const before = useRef(received)
  useLayoutEffect(() => {
    const added = received - before.current
    before.current = received
    if (added > 0 && list.current && !(atTop && follows)) list.current.scrollTop += added * height
  }, [list, height, received, atTop, follows])
  useLayoutEffect(() => {
    const element = list.current
    const onScroll = () => {
      if (element) setAtTop(element.scrollTop < height)
    }
    element?.addEventListener('scroll', onScroll, { passive: true })
    return () => element?.removeEventListener('scroll', onScroll)
  }, [list, height])
  return { atTop, toTop: () => list.current?.scrollTo({ top: 0 }) }
}

function EventCells({ event }: { event: FeedEvent }) {
  const { color } = groupOf(event.type)
  return (
    <>
      <span className={classes.time}>{timeWithMilliseconds(event.time)}</span>
      <span className={classes.type}>
        <span className={classes.dot} style={{ background: toneOf(color) }} aria-hidden />
        {event.type}
      </span>
      <span className={classes.subject}>
        <Subject event={event} />
      </span>
      <span className={classes.actor}>
        <Actor actor={event.actor} />
      </span>
    </>
  )
}
