import { useEffect, useRef, useState } from 'react'
import { useEnvironmentNames } from '../parts/environments.ts'
import { save } from '../parts/save.ts'
import {
  type ExportFilters,
  entriesOnly,
  type Format,
  fileName,
  NOTHING_RECEIVED,
  type Received,
  receiveExport,
} from './export.ts'

export type ExportState =
  | { kind: 'none' | 'running' | 'complete' | 'cancelled'; so: Received }
  | { kind: 'failed'; so: Received; error: unknown }

/** An export that runs while its dialog is open. */
export function useExport(filters: ExportFilters) {
  const [state, setState] = useState<ExportState>({ kind: 'none', so: NOTHING_RECEIVED })
  const running = useRef<AbortController>(undefined)
  const begun = useRef<Format>('ndjson')
  const environments = useEnvironmentNames()
  useEffect(() => () => running.current?.abort(), [])
  const run = async (format: Format, begin: Received) => {
    const ending = new AbortController()
    running.current = ending
    begun.current = format
    let so = begin
    setState({ kind: 'running', so })
    try {
      await receiveExport({
        ...{ filters, format, so, signal: ending.signal },
        received(next) {
          so = next
          setState({ kind: 'running', so })
        },
      })
      if (format === 'table') so = { ...so, ...(await entriesOnly(so.blob, environments)) }
      save(so.blob, fileName(format, filters))
      setState({ kind: 'complete', so })
    } catch (error) {
      setState(ending.signal.aborted ? { kind: 'cancelled', so } : { kind: 'failed', so, error })
    }
  }
  return {
    state,
    start: (format: Format) => run(format, NOTHING_RECEIVED),
    /** Continues after the last part that is proven, in the format of that part. */
    resume: () => run(begun.current, state.so),
    cancel: () => running.current?.abort(),
    /** Forgets what was received. */
    forget: () => setState({ kind: 'none', so: NOTHING_RECEIVED }),
  }
}
