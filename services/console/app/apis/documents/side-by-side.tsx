import { UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type Ref, useImperativeHandle, useMemo, useRef, useState } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { compared, foldPairs, type Line, type Pair, type Row } from './line-pairs.ts'
import classes from './side-by-side.module.css'

type Change = Schemas['DocumentChange']

/** A document, and how it is called. */
interface Source {
  title: string
  text: string
}

export interface SideBySideHandle {
  /** Scrolls to a change. */
  show(change: Change): void
}

interface SideBySideProps {
  before: Source
  after: Source
  changes: readonly Change[]
  ref: Ref<SideBySideHandle>
}

const ROW = 20
/** Characters that are shown of a line. */
const LONGEST = 2_000

const SAYS: Readonly<Record<Change['level'], string>> = {
  BREAKING: 'Breaks clients',
  UNCLEAR: 'May break clients',
  COMPATIBLE: 'Compatible',
}

/** Two documents with their lines beside each other, and the changes below the lines that they are about. */
export function SideBySide({ before, after, changes, ref }: SideBySideProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const { pairs, notes } = useMemo(
    () => compared(before.text, after.text, changes),
    [before.text, after.text, changes],
  )
  const rows = useMemo(() => foldPairs(pairs, notes, open), [pairs, notes, open])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
  })
  useImperativeHandle(ref, () => ({
    show(change) {
      virtual.scrollToIndex(
        rows.findIndex(row => 'note' in row && row.note === change),
        { align: 'center' },
      )
      scroller.current?.scrollIntoView({ block: 'nearest' })
    },
  }))
  return (
    <section
      ref={scroller}
      className={classes.pairs}
      aria-label={`${before.title} beside ${after.title}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
    >
      <div className={classes.titles}>
        <span>{before.title}</span>
        <span>{after.title}</span>
      </div>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            className={classes.row}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Cells row={rows[index]} onOpen={first => setOpen(new Set([...open, first]))} pairs={pairs} />
          </div>
        ))}
      </div>
    </section>
  )
}

interface CellsProps {
  row: Row<Change> | undefined
  pairs: readonly Pair[]
  /** @param first index of the first folded pair */
  onOpen: (first: number) => void
}

function Cells({ row, pairs, onOpen }: CellsProps) {
  if (!row) return null
  if ('note' in row)
    return (
      <div className={classes.note} data-level={row.note.level}>
        {SAYS[row.note.level]}: {row.note.message}
      </div>
    )
  if ('folded' in row)
    return (
      <UnstyledButton className={classes.fold} onClick={() => onOpen(pairs.indexOf(row.folded[0] as Pair))}>
        {row.folded.length.toLocaleString('en')} equal lines
      </UnstyledButton>
    )
  const { before, after, same } = row.pair
  const differing = !same && before && after ? middleOf(before.text, after.text) : undefined
  return (
    <div className={classes.pair} data-same={same || undefined}>
      <Cell line={before} change={same ? undefined : 'gone'} middle={differing?.before} />
      <Cell line={after} change={same ? undefined : 'new'} middle={differing?.after} />
    </div>
  )
}

interface CellProps {
  line: Line | undefined
  change: 'gone' | 'new' | undefined
  /** The characters that differ from the other line. */
  middle: readonly [start: number, end: number] | undefined
}

function Cell({ line, change, middle: [start, end] = [0, 0] }: CellProps) {
  if (!line) return <span className={classes.absent} />
  const text = line.text.length > LONGEST ? `${line.text.slice(0, LONGEST)} …` : line.text
  return (
    <span className={classes.cell} data-change={change}>
      <span className={classes.number}>{line.number}</span>
      <span className={classes.sign}>{change && (change === 'gone' ? '−' : '+')}</span>
      <span>
        {text.slice(0, start)}
        {end > start && <mark>{text.slice(start, end)}</mark>}
        {text.slice(end)}
      </span>
    </span>
  )
}

/** The characters between the equal beginnings and the equal ends of two lines. */
function middleOf(before: string, after: string) {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  return { before: [start, before.length - end], after: [start, after.length - end] } as const
}
