import { Button, Group } from '@mantine/core'
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { timeWithMilliseconds } from '../parts/local-time.ts'
import { RowList, type Rows, useRows } from '../parts/rows.tsx'
import { toneOf } from '../parts/state-badge.tsx'
import { TimeZone } from '../parts/time.tsx'

import type { FeedEvent } from './buffer.ts'
import { groupOf, groupsOf } from './describe.ts'
import classes from './events.module.css'
import { Actor, Subject } from './subject.tsx'

interface EventListProps {
  events: readonly FeedEvent[]
  /** Changes by the number of events that were added before the first one. */
  added: number
  /** The events with which the list begins. */
  end: 'newest' | 'oldest'
  /** Whether later events have arrived that the list does not have yet. */
  isPart: boolean
  selected: string | undefined
  onSelect(event: FeedEvent): void
  /** What is below the list. */
  children: ReactNode
}

const ABOVE = { open: 345, folded: 290 }
const HEADS = ['Time', 'Event', 'Subject', 'By']

/** The events. The list stays at its beginning while the person has not scrolled away from it. */
export function EventList({ events, added, end, isPart, selected, onSelect, children }: EventListProps) {
  const rows = useRows(events.length, index => events[index]?.id ?? String(index), selected !== undefined)
  const { atTop, toTop } = useTop(rows, added, selected === undefined)
  return (
    <div>
      <RowList
        rows={rows}
        label="Events"
        rowClass={classes.row}
        heads={HEADS}
        above={ABOVE}
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
      <Group justify="space-between" mt="xs" mih={30} gap="xs">
        <Legend events={events} end={end} isPart={isPart} />
        {children}
        {!atTop && (
          <Button size="xs" variant="default" onClick={toTop}>
            Go to the {end}
          </Button>
        )}
      </Group>
    </div>
  )
}

/** Keeps the list at its beginning, or else at the same rows while new ones come. @param follows whether it may move */
function useTop({ list, height }: Rows, added: number, follows: boolean) {
  const [atTop, setAtTop] = useState(true)
  const before = useRef(added)
  useLayoutEffect(() => {
    const rows = added - before.current
    before.current = added
    if (rows !== 0 && list.current && !(atTop && follows)) list.current.scrollTop += rows * height
  }, [list, height, added, atTop, follows])
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

/** What the colours of the shown events mean, their order, and the time zone of their times. */
function Legend({ events, end, isPart }: Pick<EventListProps, 'events' | 'end' | 'isPart'>) {
  const groups = useMemo(() => groupsOf(events.map(({ type }) => type)), [events])
  return (
    <Group gap="xs" fz="xs" role="group" aria-label="Colours and order of the events">
      {groups.map(({ group, color }) => (
        <span key={group}>
          <Dot color={color} />
          {group}
        </span>
      ))}
      <span>
        {end === 'oldest' ? 'Oldest first' : isPart ? 'Newest of the loaded events first' : 'Newest first'},
        in order of arrival: times can differ slightly
      </span>
      <TimeZone />
    </Group>
  )
}

const Dot = ({ color }: { color: string }) => (
  <span className={classes.dot} style={{ background: toneOf(color) }} aria-hidden />
)

function EventCells({ event }: { event: FeedEvent }) {
  const { color } = groupOf(event.type)
  return (
    <>
      <span className={classes.time}>{timeWithMilliseconds(event.time)}</span>
      <span className={classes.type}>
        <Dot color={color} />
        {event.type}
      </span>
      <span>
        <Subject event={event} />
      </span>
      <span>
        <Actor actor={event.actor} />
      </span>
    </>
  )
}
