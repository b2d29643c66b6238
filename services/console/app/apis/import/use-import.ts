import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { randomId } from '../../http/random-id.ts'
import { useIdempotencyKey } from '../../parts/idempotency.ts'
import {
  mayBeRepeated,
  type Outcome,
  plan,
  type Reason,
  reasonOf,
  run,
  runAsJob,
  type Source,
} from './requests.ts'

/** A document of the list with what is known of it. */
export interface Item {
  /** Also the Idempotency-Key of its import. */
  id: string
  source: Source
  /** Name of the file, or the URL. */
  name: string
  state: 'checking' | 'planned' | 'importing' | 'done' | 'refused'
  outcome?: Outcome
  /** Why it is refused, or why its import had no result, so that it stays to be imported. */
  reason?: Reason | undefined
}

const CHECKS_AT_ONCE = 2
/** From this number on files are imported by a job, which continues when the page is closed, if a request can have them. */
const MANY = 20

/** The documents to import: what an import of each would do, and its progress. */
export function useImport(onJob: (id: string) => void) {
  const [items, setItems] = useState<readonly Item[]>([])
  const queries = useQueryClient()
  const checking = useChecks(items, setItems)
  const cancel = useRef<AbortController>(null)
  const keys = useIdempotencyKey()
  useEffect(() => () => cancel.current?.abort(), [])
  const planned = items.filter(({ state, outcome }) => state === 'planned' && outcome?.status !== 'UNCHANGED')
  const importing = useMutation({
    async mutationFn() {
      const files = planned.flatMap(({ source }) => ('file' in source ? [source.file] : []))
      const isMany = files.length >= MANY && files.length === planned.length
      const job = isMany ? await runAsJob(files, keys.for(planned.map(({ id }) => id))) : undefined
      if (job) {
        onJob(job.id)
        return
      }
      cancel.current = new AbortController()
      const { signal } = cancel.current
      for (const item of planned) {
        if (signal.aborted) return
        await importOne(item, signal)
      }
    },
    onSettled() {
      void queries.invalidateQueries({ queryKey: ['apis'] })
      void queries.invalidateQueries({ queryKey: ['api'] })
    },
  })

  async function importOne(item: Item, signal: AbortSignal) {
    const { id, source, outcome } = item
    if (!outcome) return
    const become = (next: Partial<Item>) => setItems(changed(id, next))
    become({ state: 'importing', reason: undefined })
    try {
      become({ state: 'done', outcome: await run({ source, planned: outcome, key: id }, signal) })
    } catch (error) {
      if (signal.aborted) return become({ state: 'planned' })
      become({ state: mayBeRepeated(error) ? 'planned' : 'refused', reason: reasonOf(error) })
    }
  }

  return {
    items,
    /** Those that the import changes something for. */
    planned,
    importing,
    isChecking: items.some(({ state }) => state === 'checking'),
    add(sources: readonly Source[]) {
      const added = sources.map(
        (source): Item => ({
          id: randomId(),
          source,
          name: 'file' in source ? source.file.name : source.url,
          state: 'checking',
        }),
      )
      setItems(now => [...now, ...added])
    },
    remove: (id: string) => setItems(now => now.filter(item => item.id !== id)),
    clear() {
      checking.abort()
      importing.reset()
      setItems([])
    },
    /** Starts no further import. The one in progress ends, so that its result is known. */
    cancel: () => cancel.current?.abort(new Error('cancelled')),
  }
}

export type Importing = ReturnType<typeof useImport>

const changed = (id: string, next: Partial<Item>) => (items: readonly Item[]) =>
  items.map(item => (item.id === id ? { ...item, ...next } : item))

/** Asks for the plans of the items that are to be checked, a few at once. */
function useChecks(
  items: readonly Item[],
  setItems: (change: (items: readonly Item[]) => readonly Item[]) => void,
) {
  const started = useRef(new Set<string>())
  const running = useRef(0)
  const aborting = useRef(new AbortController())
  useEffect(() => {
    aborting.current = new AbortController()
    return () => aborting.current.abort()
  }, [])
  useEffect(() => {
    for (const { id, source, state } of items) {
      if (running.current >= CHECKS_AT_ONCE) return
      if (state !== 'checking' || started.current.has(id)) continue
      started.current.add(id)
      running.current++
      plan(source, aborting.current.signal)
        .then(
          (outcome): Partial<Item> => ({ state: 'planned', outcome }),
          (error): Partial<Item> => ({ state: 'refused', reason: reasonOf(error) }),
        )
        .then(next => {
          running.current--
          setItems(changed(id, next))
        })
    }
  })
  return {
    abort() {
      aborting.current.abort(new Error('cancelled'))
      aborting.current = new AbortController()
    },
  }
}
