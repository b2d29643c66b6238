import { Button, Group, Paper, Stack, Text, UnstyledButton } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'
import { placeText } from '../../parts/place-text.ts'
import { StateBadge } from '../../parts/state-badge.tsx'
import classes from './documents.module.css'
import { readable } from './json-lines.ts'

/** Something that is said about a line of a document. */
export interface Note {
  severity: 'ERROR' | 'WARNING'
  message: string
  line: number | null
  column: number | null
  pointer: string | null
}

/** Notes about the same. */
export interface NoteGroup {
  severity: Note['severity']
  title: string
  /** Where the notes come from. */
  source?: string
  /** How many there are; `notes` may be the first of them. */
  count: number
  notes: readonly Note[]
}

interface SourceLinesProps {
  label: string
  text: string
  groups: readonly NoteGroup[]
}

/** A row: a line of the document, or a note below its line. */
type Row = { line: number; text: string } | { note: Note }

const ROW = 20
/** Characters that are shown of a line, and before the column of a note. */
const LONGEST = 1_000
const LEAD = 100
/** Places of a group that are shown at first. */
const FEW = 3

/** A document with notes below the lines that they are about, and beside it the groups of the notes. */
export function SourceLines({ label, text, groups }: SourceLinesProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const { rows, isReformatted } = useMemo(
    () =>
      rowsOf(
        text,
        groups.flatMap(({ notes }) => notes),
      ),
    [text, groups],
  )
  const first = rows.findIndex(row => 'note' in row)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
    initialOffset: Math.max(0, (first - 4) * ROW),
  })
  const [chosen, choose] = useState<Note>()
  const show = (note: Note) => {
    choose(note)
    virtual.scrollToIndex(
      rows.findIndex(row => 'note' in row && row.note === note),
      { align: 'center' },
    )
    scroller.current?.scrollTo({ left: 0 })
    scroller.current?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <div className={classes.noted}>
      <Stack gap="xs" component="ul" m={0} p={0} aria-label={`What is wrong with ${label}`}>
        {groups.map((group, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the groups stay in their order
          <Alike key={index} group={group} chosen={chosen} onShow={show} />
        ))}
      </Stack>
      <div className={classes.source}>
        {isReformatted && (
          <Text size="xs" mb={4}>
            Shown with a line for each value. The stored document has long lines and is unchanged.
          </Text>
        )}
        <section
          ref={scroller}
          className={classes.lines}
          aria-label={`Source of ${label}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
          tabIndex={0}
        >
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {virtual.getVirtualItems().map(({ key, index, start }) => (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={classes.line}
                style={{ transform: `translateY(${start}px)` }}
              >
                <RowCells row={rows[index]} chosen={chosen} />
              </div>
            ))}
          </div>
        </section>
      </div>
    </div>
  )
}

function RowCells({ row, chosen }: { row: Row | undefined; chosen: Note | undefined }) {
  if (!row) return null
  if ('note' in row)
    return (
      <>
        <span />
        <span className={classes.note} data-severity={row.note.severity} data-chosen={row.note === chosen}>
          {' '}
          {row.note.column !== null && !row.note.pointer && `Column ${row.note.column}: `}
          {unquoted(row.note.message)}
        </span>
      </>
    )
  return (
    <>
      <span>{row.line}</span>
      <span>{row.text}</span>
    </>
  )
}

interface GroupProps {
  group: NoteGroup
  chosen: Note | undefined
  onShow: (note: Note) => void
}

/** What is wrong, how often, and the way to each place. */
function Alike({ group: { severity, title, source, count, notes }, chosen, onShow }: GroupProps) {
  const [all, setAll] = useState(false)
  const isAlike = notes.every(({ message }) => message === notes[0]?.message)
  return (
    <Paper component="li" withBorder p="xs" style={{ listStyle: 'none' }}>
      <Group justify="space-between" gap="xs">
        <StateBadge color={severity === 'ERROR' ? 'red' : 'orange'}>
          {severity === 'ERROR' ? 'Error' : 'Warning'}
        </StateBadge>
        <Text size="sm">{count === 1 ? '1 place' : `${count.toLocaleString('en')} places`}</Text>
      </Group>
      <Text size="sm" fw={600} mt={4} style={{ overflowWrap: 'anywhere' }}>
        {unquoted(title)}
      </Text>
      {source && (
        <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
          {source}
        </Text>
      )}
      <Stack gap={0} mt={4} align="start">
        {(all ? notes : notes.slice(0, FEW)).map((note, index) => (
          <Place
            // biome-ignore lint/suspicious/noArrayIndexKey: notes have no identity but their place
            key={index}
            note={note}
            message={isAlike ? undefined : note.message}
            isChosen={note === chosen}
            onShow={() => onShow(note)}
          />
        ))}
        {notes.length > FEW && (
          <Button size="compact-xs" variant="default" mt={4} onClick={() => setAll(!all)}>
            {all
              ? 'Show fewer'
              : notes.length < count
                ? `Show the first ${notes.length}`
                : `Show all ${notes.length}`}
          </Button>
        )}
      </Stack>
    </Paper>
  )
}

interface PlaceProps {
  note: Note
  message: string | undefined
  isChosen: boolean
  onShow: () => void
}

function Place({ note: { line, pointer }, message, isChosen, onShow }: PlaceProps) {
  const place = pointer ? placeText(pointer) : undefined
  const text = (
    <>
      <span className={classes.placeName}>{place ?? `Line ${line}`}</span>
      {message && <span className={classes.clamped}>{unquoted(message)}</span>}
    </>
  )
  if (line === null) return place || message ? <div className={classes.way}>{text}</div> : null
  return (
    <UnstyledButton
      className={classes.way}
      aria-pressed={isChosen}
      aria-label={`${place ?? `Line ${line}`}${message ? `: ${unquoted(message)}` : ''}`}
      onClick={onShow}
    >
      {text}
    </UnstyledButton>
  )
}

function rowsOf(stored: string, notes: readonly Note[]): { rows: Row[]; isReformatted: boolean } {
  const [shown = { text: stored, lineOf: (_: string, line: number | null) => line }] = readable([stored])
  const byLine = Map.groupBy(notes, ({ pointer, line }) =>
    pointer === null ? line : shown.lineOf(pointer, line),
  )
  const rows = shown.text.split(/\r\n|\r|\n/).flatMap((line, index): Row[] => {
    const own = byLine.get(index + 1) ?? []
    return [{ line: index + 1, text: shortened(line, own[0]?.column ?? 1) }, ...own.map(note => ({ note }))]
  })
  return { rows, isReformatted: shown.text !== stored }
}

function shortened(line: string, column: number): string {
  if (line.length <= LONGEST) return line
  const start = Math.max(0, column > line.length ? 0 : column - LEAD)
  return `${start > 0 ? '… ' : ''}${line.slice(start, start + LONGEST)} …`
}

/** A message without the marks that Markdown has around code. */
const unquoted = (message: string) => message.replaceAll('`', '')
