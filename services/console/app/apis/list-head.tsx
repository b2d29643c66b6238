import { useQueryClient } from '@tanstack/react-query'
import { memo, useEffect, useRef } from 'react'
import { COLUMNS } from './columns.tsx'
import { GridPart } from './grid-part.tsx'
import { readPages } from './list-pages.ts'
import styles from './list-table.module.css'
import type { ApiList } from './search.ts'
import { isPicked, type Selecting } from './selection.ts'

interface ListHeadProps {
  list: ApiList
  /** Changes when further pages are read, which the checkbox of all loaded rows counts. */
  loadedPages: string
  selecting: Selecting | undefined
  onSort: (sort: string) => void
}

/** The headers of the columns. Those that the service sorts by are buttons. Scrolling does not render them again. */
export const ListHead = memo(function ListHead({ list, selecting, onSort }: ListHeadProps) {
  const [sorted, direction] = list.sort[0]?.split(',') ?? []
  return (
    <GridPart role="rowgroup" className={styles.head}>
      <GridPart role="row" aria-rowindex={1} className={styles.row}>
        {selecting && <SelectLoaded list={list} selecting={selecting} />}
        {COLUMNS.map(({ header, className, sort: by }) => {
          const ascending = by === sorted && direction === 'asc'
          return (
            <GridPart
              key={header}
              role="columnheader"
              className={className}
              aria-sort={
                by !== undefined && by === sorted ? (ascending ? 'ascending' : 'descending') : undefined
              }
            >
              {by === undefined ? (
                header
              ) : (
                <button
                  type="button"
                  className={styles.sort}
                  onClick={() => onSort(`${by},${ascending ? 'desc' : 'asc'}`)}
                >
                  {header}
                  {by === sorted && <span aria-hidden>{ascending ? ' ↑' : ' ↓'}</span>}
                </button>
              )}
            </GridPart>
          )
        })}
      </GridPart>
    </GridPart>
  )
})

function SelectLoaded({ list, selecting }: { list: ApiList; selecting: Selecting }) {
  const box = useRef<HTMLInputElement>(null)
  const loaded = readPages(useQueryClient(), list)
  const selected = loaded.filter(api => isPicked(selecting.selection, api.id)).length
  const some = selected > 0 && selected < loaded.length
  useEffect(() => {
    if (box.current) box.current.indeterminate = some
  }, [some])
  return (
    <GridPart role="columnheader" className={styles.select}>
      <input
        ref={box}
        type="checkbox"
        aria-label="Select all loaded APIs"
        checked={loaded.length > 0 && selected === loaded.length}
        onChange={() => selecting.toggleLoaded(selected < loaded.length)}
      />
    </GridPart>
  )
}
