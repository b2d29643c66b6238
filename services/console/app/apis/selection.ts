import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { notifyFailed } from '../parts/notify.ts'
import { PAGE_SIZE, pageOf, pageQuery, readPages } from './list-pages.ts'
import type { Api, ApiList } from './search.ts'

/** A selected API as the list has shown it. */
export type Picked = Pick<Api, 'id' | 'name' | 'displayName' | 'updatedAt'>

/** The selected APIs: those in `picked`, or all of the list except those in `except`. */
export type Selection =
  | { all: false; picked: ReadonlyMap<string, Picked> }
  | { all: true; total: number; except: ReadonlyMap<string, Picked> }

const NONE: Selection = { all: false, picked: new Map() }

/** Whether an API of the list is selected. */
export const isPicked = (selection: Selection, id: string): boolean =>
  selection.all ? !selection.except.has(id) : selection.picked.has(id)

/** Number of selected APIs. */
export const countOf = (selection: Selection): number =>
  selection.all ? Math.max(selection.total - selection.except.size, 0) : selection.picked.size

function changed(selection: Selection, apis: readonly Picked[], on: boolean): Selection {
  const map = new Map(selection.all ? selection.except : selection.picked)
  for (const api of apis) {
    if (on === selection.all) map.delete(api.id)
    else {
      const { id, name, displayName, updatedAt } = api
      map.set(id, { id, name, displayName, updatedAt })
    }
  }
  return selection.all ? { ...selection, except: map } : { all: false, picked: map }
}

/** The selection in a list, with what changes it. */
export interface Selecting {
  selection: Selection
  /** Selects or deselects one row and makes it the start of ranges. */
  toggle(index: number, api: Picked): void
  /** Selects the rows from the last toggled one to this one. Rows that are not loaded are read first. */
  extend(index: number): void
  /** Selects or deselects all rows that are loaded. */
  toggleLoaded(on: boolean): void
  selectAll(total: number): void
  clear(): void
}

/** The rows of a range, of which those that are not loaded are read. */
async function rowsOf(client: QueryClient, list: ApiList, from: number, to: number): Promise<Api[]> {
  const apis: Api[] = []
  for (let page = pageOf(from); page <= pageOf(to); page++) {
    const { content } = await client.ensureQueryData(pageQuery(list, page))
    apis.push(...content)
  }
  const offset = (pageOf(from) - 1) * PAGE_SIZE
  return apis.slice(from - offset, to - offset + 1)
}

/** The selection ends when other filters apply, so that no selected API is out of sight. */
export function useSelection(list: ApiList): Selecting {
  const { sort: _, ...filters } = list
  const key = JSON.stringify(filters)
  const [stored, setStored] = useState({ key, selection: NONE })
  const anchor = useRef(0)
  const client = useQueryClient()
  const selection = stored.key === key ? stored.selection : NONE
  const change = (next: (selection: Selection) => Selection) =>
    setStored(now => ({ key, selection: next(now.key === key ? now.selection : NONE) }))
  return {
    selection,
    toggle(index, api) {
      anchor.current = index
      change(now => changed(now, [api], !isPicked(now, api.id)))
    },
    extend(index) {
      const [from, to] = index < anchor.current ? [index, anchor.current] : [anchor.current, index]
      rowsOf(client, list, from, to).then(
        apis => change(now => changed(now, apis, true)),
        error => notifyFailed('The rows are not selected', error),
      )
    },
    toggleLoaded: on => change(now => changed(now, readPages(client, list), on)),
    selectAll: total => change(() => ({ all: true, total, except: new Map() })),
    clear: () => setStored({ key, selection: NONE }),
  }
}
