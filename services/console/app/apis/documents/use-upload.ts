import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { asProblem } from '../../http/problem.ts'
import { notifyDone } from '../../parts/notify.ts'
import type { DocumentRecord, VersionPath } from './reads.ts'
import { nameOf, refusalOf, store } from './uploads.ts'

const RETRIES = 5

/** A file that the person has dropped or chosen. */
export interface Dropped {
  file: File
  name: string
  /** The document of the same name, which the person agrees to replace first. */
  replaced?: DocumentRecord | undefined
}

/** The upload of one document into a version. */
export function useUpload(
  path: VersionPath,
  /** Name of the version. */
  version: string,
  documents: readonly DocumentRecord[],
  onStored: (document: DocumentRecord) => void,
) {
  const queries = useQueryClient()
  const [part, setPart] = useState(0)
  const [asked, setAsked] = useState<Dropped>()
  const cancel = useRef<AbortController>(null)
  const storing = useMutation({
    async mutationFn(dropped: Dropped | { refusal: Error }) {
      if ('refusal' in dropped) throw dropped.refusal
      const { file, name, replaced } = dropped
      cancel.current = new AbortController()
      setPart(0)
      const { signal } = cancel.current
      return store(file, { path, name, replaced, signal, onProgress: setPart })
    },
    // Other documents are being checked, and nothing of this one was stored.
    retry: (failures, error) => failures < RETRIES && asProblem(error).code === 'too-many-checks',
    retryDelay: (_failures, error) => (asProblem(error).retryAfterSeconds ?? 1) * 1_000,
    async onSuccess(document) {
      await queries.invalidateQueries({ queryKey: ['api', path.api_id] })
      void queries.invalidateQueries({ queryKey: ['apis'] })
      notifyDone(`${document.name} is stored in version ${version}`)
      onStored(document)
    },
  })
  return {
    version,
    storing,
    /** Share of the bytes that are sent. */
    part,
    asked,
    /** @param as the document that the file replaces whatever its name is */
    drop(files: readonly File[], as?: DocumentRecord) {
      if (storing.isPending) return
      const refusal = refusalOf(files)
      const [file] = files
      if (refusal || !file) return storing.mutate({ refusal: refusal ?? new Error('no file') })
      const name = as?.name ?? nameOf(file.name)
      const replaced = documents.find(document => document.name === name)
      if (replaced) setAsked({ file, name, replaced })
      else storing.mutate({ file, name })
    },
    replace() {
      if (asked) storing.mutate(asked)
      setAsked(undefined)
    },
    keep: () => setAsked(undefined),
    cancel: () => cancel.current?.abort(new Error('cancelled')),
  }
}

export type Uploading = ReturnType<typeof useUpload>
