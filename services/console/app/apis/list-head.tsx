import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { ListTableModel } from './columns.tsx'
import { GridPart } from './grid-part.tsx'
import { readPages } from './list-pages.ts'
import styles from './list-table.module.css'
import type { ApiList } from './search.ts'
import { isPicked, type Selecting } from './selection.ts'

interface ListHeadProps {
  table: ListTableModel
  list: ApiList
  selecting: Selecting | undefined
  onSort: (sort: string) => void
}

/** The headers of the columns. Those that the service sorts by are buttons. */
export function ListHead({ table, list, selecting, onSort }: ListHeadProps) {
  const [sorted, direction] = list.sort[0]?.split(',') ?? []
  return (
    <GridPart role="rowgroup" className={styles.head}>
      <GridPart role="row" aria-rowindex={1} className={styles.row}>
        {selecting && <SelectLoaded list={list} selecting={selecting} />}
        {table.getFlatHeaders().map(header => {
          const { meta } = header.column.columnDef
          const by = meta?.sort
          const ascending = by === sorted && direction === 'asc'
          return (
            <GridPart
              key={header.id}
              role="columnheader"
              className={meta?.className}
              aria-sort={
                by !== undefined && by === sorted ? (ascending ? 'ascending' : 'descending') : undefined
              }
            >
              {by === undefined ? (
                <table.FlexRender header={header} />
              ) : (
                <button
                  type="button"
                  className={styles.sort}
                  onClick={() => onSort(`${by},${ascending ? 'desc' : 'asc'}`)}
                >
                  <table.FlexRender header={header} />
                  {by === sorted && <span aria-hidden>{ascending ? ' ↑' : ' ↓'}</span>}
                </button>
              )}
            </GridPart>
          )
        })}
      </GridPart>
    </GridPart>
  )
}

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
