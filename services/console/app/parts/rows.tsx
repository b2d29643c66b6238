import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import classes from './rows.module.css'

const WIDE = '(min-width: 64em)'
/** The same beside the details of a row. */
const WIDE_BESIDE = '(min-width: 92em)'
const ROW = 36
/** On a narrow screen a row has two lines, and four on a phone. Its class finds them by `data-lines` of an ancestor. */
const NARROW_ROW = 56
const PHONE = '(max-width: 47.99em)'
const PHONE_ROW = 96
/** Browsers do not scroll further than some ten million pixels. */
const MOST_ROWS = 250_000

/** The rows of a long list, of which only those in sight are in the page. */
export interface Rows {
  list: RefObject<HTMLDivElement | null>
  virtual: Virtualizer<HTMLDivElement, Element>
  /** Height of a row in pixels. */
  height: number
}

/**
 * @param keyOf id of a row; the id of its element is made from it
 * @param isBeside whether the details of a row are beside the list
 */
export function useRows(count: number, keyOf: (index: number) => string, isBeside: boolean): Rows {
  const list = useRef<HTMLDivElement>(null)
  const isPhone = useMediaQuery(PHONE, false, { getInitialValueInEffect: false })
  const isWide = useMediaQuery(isBeside ? WIDE_BESIDE : WIDE, true)
  const height = isPhone ? PHONE_ROW : isWide ? ROW : NARROW_ROW
  const virtual = useVirtualizer({
    count: Math.min(count, MOST_ROWS),
    getScrollElement: () => list.current,
    estimateSize: () => height,
    getItemKey: keyOf,
    overscan: 8,
  })
  return { list, virtual, height }
}

interface RowListProps {
  rows: Rows
  label: string
  /** Class of each row: its columns. */
  rowClass: string | undefined
  /** Names of the columns, which rows of one line have. */
  heads: readonly string[]
  /** Height of the page above and below the list in pixels, with open and folded filters. The list takes the rest of the window. */
  above: { open: number; folded: number }
  /** Index of the selected row; -1 for none. */
  selected: number
  onSelect(index: number): void
  children(index: number): ReactNode
}

/** A list of which one row is selected, with the arrow keys or by a click. */
export function RowList({ rows, label, rowClass, heads, above, selected, onSelect, children }: RowListProps) {
  const { list, virtual, height } = rows
  const { count, getItemKey } = virtual.options
  const idOf = (index: number) => `row-${getItemKey(index)}`
  const items = virtual.getVirtualItems()
  const chosen = useRef(0)
  useSameRow(rows, chosen)
  const choose = (index: number) => {
    chosen.current = index
    onSelect(index)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = indexAfter(event.key, selected, count)
    if (next === undefined) return
    event.preventDefault()
    choose(next)
    virtual.scrollToIndex(next)
  }
  return (
    <div data-lines={height === ROW ? 1 : height === NARROW_ROW ? 2 : 4}>
      {height === ROW && (
        <div className={`${classes.heads} ${rowClass}`} aria-hidden>
          {heads.map(head => (
            <span key={head}>{head}</span>
          ))}
        </div>
      )}
      <div
        ref={list}
        className={classes.list}
        style={{
          ['--rows-above' as string]: `${above.open}px`,
          ['--rows-above-folded' as string]: `${above.folded}px`,
        }}
        role="listbox"
        aria-label={label}
        aria-activedescendant={items.some(({ index }) => index === selected) ? idOf(selected) : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div className={classes.space} style={{ height: virtual.getTotalSize() }} role="presentation">
          {items.map(({ index, start, key }) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
            <div
              key={key}
              id={idOf(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === selected}
              aria-posinset={index + 1}
              aria-setsize={count}
              className={`${classes.row} ${rowClass}`}
              style={{ transform: `translateY(${start}px)`, height }}
              onClick={() => choose(index)}
            >
              {children(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

/** Keeps a row where it is when the rows become higher: the chosen one, or else the first in sight. */
function useSameRow({ list, height }: Rows, chosen: RefObject<number>) {
  const before = useRef(height)
  useLayoutEffect(() => {
    const more = height - before.current
    if (list.current && more !== 0) {
      const first = Math.floor(list.current.scrollTop / before.current)
      list.current.scrollTop += (more > 0 ? Math.max(chosen.current, first) : first) * more
    }
    before.current = height
  }, [list, height, chosen])
}

/** The index that a key selects. */
function indexAfter(key: string, current: number, count: number): number | undefined {
  if (count === 0) return undefined
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[key]
  if (step === undefined) return undefined
  return Math.min(Math.max(current + step, 0), count - 1)
}
