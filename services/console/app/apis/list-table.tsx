import { useVirtualizer } from '@tanstack/react-virtual'
import { type ChangeEvent, memo, useEffect, useRef, useState } from 'react'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { OPENS_ITS_LINK } from '../parts/row-click.ts'
import { type CellContext, COLUMNS } from './columns.tsx'
import { GridPart } from './grid-part.tsx'
import { ListHead } from './list-head.tsx'
import { useListKeys } from './list-keys.ts'
import { useListedRows } from './list-pages.ts'
import styles from './list-table.module.css'
import type { Api, ApiList } from './search.ts'
import { countOf, isPicked, type Selecting } from './selection.ts'

const ROW_HEIGHT = 60
const HEAD_HEIGHT = 37
/** Room below the last row for the bar with the actions. */
const BAR_HEIGHT = 64
/** Rows above and below the visible ones. */
const OVERSCAN = 8

interface ListTableProps {
  list: ApiList
  total: number
  /** Absent when the person may not change APIs. */
  selecting: Selecting | undefined
  onSort: (sort: string) => void
  onOpen: (api: Api) => void
}

/**
 * The rows of a list of any length. Only the visible ones are in the document; their pages are read when they are shown.
 * One element has the focus, and the arrow keys move between its rows.
 */
export function ListTable({ list, total, selecting, onSort, onOpen }: ListTableProps) {
  const grid = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => grid.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollPaddingStart: HEAD_HEIGHT,
    paddingEnd: selecting && countOf(selecting.selection) > 0 ? BAR_HEIGHT : 0,
  })
  useScrollToTop(list, () => {
    virtual.scrollToOffset(0)
    setActive(0)
  })
  const items = virtual.getVirtualItems()
  const rows = useListedRows(list, items[0]?.index ?? 0, items.at(-1)?.index ?? 0)
  const context = { q: list.q, onOpen }
  const shown = Math.min(active, total - 1)
  const onKeyDown = useListKeys({
    active: shown,
    total,
    pageLength: () => Math.max(1, Math.floor((grid.current?.clientHeight ?? 0) / ROW_HEIGHT) - 1),
    selecting,
    row: rows.row,
    onOpen,
    onMove: index => {
      setActive(index)
      virtual.scrollToIndex(index)
    },
  })
  return (
    <>
      {rows.error && (
        <ProblemPanel what="Some APIs cannot be shown" error={rows.error} onRetry={rows.retry} />
      )}
      <GridPart
        ref={grid}
        className={styles.grid}
        role="grid"
        tabIndex={0}
        aria-label="APIs"
        aria-rowcount={total + 1}
        aria-colcount={COLUMNS.length + (selecting ? 1 : 0)}
        aria-multiselectable={selecting !== undefined}
        aria-activedescendant={items.some(({ index }) => index === shown) ? rowId(shown) : undefined}
        onKeyDown={onKeyDown}
      >
        <ListHead list={list} loadedPages={rows.loadedPages} selecting={selecting} onSort={onSort} />
        <GridPart role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <Row
              key={index}
              index={index}
              start={start}
              api={rows.row(index)}
              context={context}
              active={index === shown}
              selected={isSelected(selecting, rows.row(index))}
              onToggle={setActive}
              selecting={selecting}
            />
          ))}
        </GridPart>
      </GridPart>
    </>
  )
}

const rowId = (index: number) => `api-row-${index}`

const isSelected = (selecting: Selecting | undefined, api: Api | undefined) =>
  selecting && (api ? isPicked(selecting.selection, api.id) : selecting.selection.all)

/** Another list starts at its first row; a new state of the same list stays where it is. */
function useScrollToTop(list: ApiList, toTop: () => void) {
  const before = useRef(list)
  useEffect(() => {
    if (before.current === list) return
    before.current = list
    toTop()
  })
}

interface RowProps {
  index: number
  start: number
  /** Undefined while its page is read. */
  api: Api | undefined
  context: CellContext
  active: boolean
  selected: boolean | undefined
  selecting: Selecting | undefined
  onToggle: (index: number) => void
}

/** A row changes only with what it shows: scrolling renders the rows that come into view. */
const Row = memo(
  function Row({ index, start, api, context, active, selected, selecting, onToggle }: RowProps) {
    const toggle = (event: ChangeEvent<HTMLInputElement>) => {
      if (!api || !selecting) return
      onToggle(index)
      if ((event.nativeEvent as MouseEvent).shiftKey) selecting.extend(index)
      else selecting.toggle(index, api)
    }
    return (
      <GridPart
        id={rowId(index)}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={selected}
        aria-busy={!api}
        data-active={active || undefined}
        className={styles.row}
        {...OPENS_ITS_LINK}
        style={{ transform: `translateY(${start}px)`, cursor: 'pointer' }}
      >
        {selecting && (
          <GridPart role="gridcell" className={styles.select}>
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={`Select ${api?.displayName ?? 'row'}`}
              checked={selected}
              disabled={!api}
              onChange={toggle}
            />
          </GridPart>
        )}
        {COLUMNS.map(({ header, className, cell }) => (
          <GridPart key={header} role="gridcell" className={className}>
            {api ? cell(api, context) : <div className={styles.bar} />}
          </GridPart>
        ))}
      </GridPart>
    )
  },
  (before, after) =>
    before.api === after.api &&
    before.start === after.start &&
    before.active === after.active &&
    before.selected === after.selected &&
    !before.selecting === !after.selecting,
)
