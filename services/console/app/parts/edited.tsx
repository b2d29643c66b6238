import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Comparison } from './comparison.tsx'
import { isProblem } from './field-errors.ts'
import { type Stored, save } from './three-way.ts'

interface Editing<Draft> {
  /** The record that the form begins with. */
  opened: Stored<Draft>
  /** Sends the fields with an If-Match header. @returns the record as it is stored then */
  put: (draft: Draft, etag: string) => Promise<Stored<Draft>>
  read: () => Promise<Stored<Draft>>
  /** Called with the fields that were sent. The form counts as being saved until it has ended. */
  onSaved: (sent: Draft) => unknown
  /** What the form edits, e.g. "API". */
  what: string
  labels: Readonly<Record<keyof Draft, string>>
  textOf: (value: Draft[keyof Draft], field: keyof Draft) => string
}

interface Submission<Draft> {
  mine: Draft
  over: Stored<Draft>
  /** The fields of the form when it was submitted. */
  from: Draft
}

interface Form<Draft> {
  base: Stored<Draft>
  draft: Draft
}

/** The form with the choices of a comparison that are not saved yet. */
const keeping =
  <Draft,>({ mine, over, from }: Submission<Draft>) =>
  (form: Form<Draft>): Form<Draft> =>
    form.draft === from ? { base: over, draft: mine } : form

/**
 * State of a form that changes a record. When another person has changed the same fields, `comparison` is the dialog that
 * compares both changes. The form and what is compared stay the same until a request has ended: a success makes the saved
 * record the base, a failure or a second conflict keeps the choices. What is typed during a request stays.
 */
export function useEdited<Draft extends object>(editing: Editing<Draft>) {
  const { opened, put, read, onSaved } = editing
  const [{ base, draft }, setForm] = useState<Form<Draft>>({ base: opened, draft: opened.draft })
  const [theirs, setTheirs] = useState<Stored<Draft>>()
  const setDraft = (draft: Draft) => setForm(({ base }) => ({ base, draft }))
  const saving = useMutation({
    mutationFn: ({ mine, over }: Submission<Draft>) =>
      save({ base: over, mine, put, read, isStale: error => isProblem(error, 'precondition-failed') }),
    onSuccess({ saved, theirs }, sent) {
      setTheirs(theirs)
      if (theirs) return setForm(keeping(sent))
      setForm(({ draft }) => ({ base: saved, draft: draft === sent.from ? saved.draft : draft }))
      return onSaved(sent.mine)
    },
    onError(_, sent) {
      // The form shows which of the chosen values was refused.
      setTheirs(undefined)
      setForm(keeping(sent))
    },
  })
  const submit = (mine: Draft, over: Stored<Draft>) => saving.mutate({ mine, over, from: draft })
  const { what, labels, textOf } = editing
  const comparison = theirs && (
    <Comparison
      // A second conflict is another comparison, without the choices of the first one.
      key={theirs.etag}
      {...{ what, labels, textOf }}
      base={base.draft}
      mine={draft}
      theirs={theirs.draft}
      saving={saving.isPending}
      onSave={merged => submit(merged, theirs)}
      onClose={() => setTheirs(undefined)}
    />
  )
  /** Shows another stored record in place of a form without changes. */
  const follow = (stored: Stored<Draft>) => setForm({ base: stored, draft: stored.draft })
  return { base, draft, setDraft, follow, save: () => submit(draft, base), saving, comparison }
}
