import { Button, Group, Stack, Text } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { placeText } from '../../parts/place-text.ts'
import { StateBadge } from '../../parts/state-badge.tsx'
import classes from './documents.module.css'

/** Something that is said about a line of a document. */
export interface Note {
  severity: 'ERROR' | 'WARNING'
  message: string
  line: number | null
  column: number | null
  pointer: string | null
}

interface SourceLinesProps {
  label: string
  text: string
  notes: readonly Note[]
}

/** A row: a line of the document, or a note below its line. */
type Row = { line: number; text: string } | { note: Note }

const ROW = 20
/** Characters that are shown of a line, and before the column of a note. */
const LONGEST = 1_000
const LEAD = 100

/** A document with notes below the lines that they are about, and a list of the notes. */
export function SourceLines({ label, text, notes }: SourceLinesProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useMemo(() => rowsOf(text, notes), [text, notes])
  const first = rows.findIndex(row => 'note' in row)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
    initialOffset: Math.max(0, (first - 4) * ROW),
  })
  const show = (note: Note) =>
    virtual.scrollToIndex(
      rows.findIndex(row => 'note' in row && row.note === note),
      { align: 'center' },
    )
  return (
    <Stack gap="xs">
      <Stack
        gap={2}
        mah="30dvh"
        style={{ overflow: 'auto' }}
        component="ul"
        m={0}
        p={0}
        tabIndex={0}
        aria-label={`What is wrong with ${label}`}
      >
        {[...Map.groupBy(notes, ({ severity, message }) => `${severity} ${message}`)].map(([key, alike]) => (
          <Group key={key} component="li" gap="xs" wrap="nowrap" align="baseline">
            <AlikeNotes notes={alike} onShow={show} />
          </Group>
        ))}
      </Stack>
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
              <RowCells row={rows[index]} />
            </div>
          ))}
        </div>
      </section>
    </Stack>
  )
}

function RowCells({ row }: { row: Row | undefined }) {
  if (!row) return null
  if ('note' in row)
    return (
      <>
        <span />
        <span className={classes.note} data-severity={row.note.severity}>
          {' '}
          {row.note.column !== null && `Column ${row.note.column}: `}
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

/** Notes with the same message, and the way to each of their places. */
function AlikeNotes({ notes, onShow }: { notes: readonly Note[]; onShow: (note: Note) => void }) {
  const [{ severity, message }] = notes as [Note]
  return (
    <>
      {severity === 'ERROR' ? (
        <StateBadge color="red">Error</StateBadge>
      ) : (
        <StateBadge color="orange">Warning</StateBadge>
      )}
      <div>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {unquoted(message)}
          {notes.length > 1 && ` (${notes.length} places)`}
        </Text>
        <Group gap={4}>
          {notes.map((note, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: notes have no identity but their place
            <Place key={index} note={note} onShow={() => onShow(note)} />
          ))}
        </Group>
      </div>
    </>
  )
}

function Place({ note: { line, pointer }, onShow }: { note: Note; onShow: () => void }) {
  const place = pointer ? placeText(pointer) : undefined
  if (line === null) return place ? <Text size="xs">{place}</Text> : null
  return (
    <Button
      size="compact-xs"
      variant="default"
      maw="100%"
      title={place}
      aria-label={`Line ${line}${place ? `: ${place}` : ''}`}
      onClick={onShow}
    >
      {place ?? `Line ${line}`}
    </Button>
  )
}

function rowsOf(text: string, notes: readonly Note[]): Row[] {
  const byLine = Map.groupBy(notes, ({ line }) => line)
  return text.split(/\r\n|\r|\n/).flatMap((line, index): Row[] => {
    const own = byLine.get(index + 1) ?? []
    return [{ line: index + 1, text: shortened(line, own[0]?.column ?? 1) }, ...own.map(note => ({ note }))]
  })
}

function shortened(line: string, column: number): string {
  if (line.length <= LONGEST) return line
  const start = Math.max(0, column - LEAD)
  return `${start > 0 ? '… ' : ''}${line.slice(start, start + LONGEST)} …`
}

/** A message without the marks that Markdown has around code. */
const unquoted = (message: string) => message.replaceAll('`', '')
