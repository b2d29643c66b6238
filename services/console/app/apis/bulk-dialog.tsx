import '../more-styles.ts'
import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useIdempotencyKey } from '../parts/idempotency.ts'
import { InputDialog } from '../parts/input-dialog.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { type BulkAction, type Change, MOST_APIS, start } from './bulk-change.ts'
import { BulkForm } from './bulk-form.tsx'
import { useBulkItems } from './bulk-items.ts'
import { BulkProgress } from './bulk-progress.tsx'
import type { ApiList } from './search.ts'
import type { Picked, Selection } from './selection.ts'

interface BulkDialogProps {
  action: BulkAction
  list: ApiList
  selection: Selection
  /** @param allDone whether every selected API has been changed */
  onClose: (allDone: boolean) => void
}

const TITLES: Readonly<Record<BulkAction, string>> = {
  tags: 'Change tags',
  owner: 'Change owner',
  status: 'Change status',
  delete: 'Delete APIs',
}

interface Started {
  change: Change
  apis: readonly Picked[]
  warned: boolean
}

/** Asks what to change, then starts a job that changes the selected APIs, and shows its progress and results. */
export function BulkDialog({ action, list, selection, onClose }: BulkDialogProps) {
  const [selected] = useState(selection)
  const items = useBulkItems(list, selected)
  const keys = useIdempotencyKey()
  const starting = useMutation({
    mutationFn: ({ change, apis, warned }: Started) =>
      start(change, apis, warned, keys.for([change, warned])),
    onSuccess: keys.done,
  })
  const { data: job, variables } = starting
  const [unsaved, setUnsaved] = useState(false)
  return (
    <InputDialog
      title={TITLES[action]}
      unsaved={unsaved && !starting.isPending && !job}
      onClose={() => onClose(false)}
      size="lg"
      withCloseButton={!job}
      closeOnEscape={!job}
      closeOnClickOutside={false}
    >
      {close => (
        <>
          {starting.isError && <ProblemPanel what="The change is not started" error={starting.error} />}
          {job && variables ? (
            <BulkProgress
              key={job.id}
              started={job}
              onAgain={warned => starting.mutate({ ...variables, warned })}
              onClose={onClose}
            />
          ) : items.isError ? (
            <Stack>
              <ProblemPanel
                what="The selected APIs cannot be read"
                error={items.error}
                onRetry={() => items.refetch()}
              />
              <Group justify="flex-end">
                <Button variant="default" onClick={() => onClose(false)}>
                  Cancel
                </Button>
              </Group>
            </Stack>
          ) : items.data && items.data.length > MOST_APIS ? (
            <Text>Select at most {MOST_APIS.toLocaleString('en')} APIs at a time.</Text>
          ) : items.data ? (
            <BulkForm
              action={action}
              apis={items.data}
              onUnsaved={setUnsaved}
              onCancel={close}
              onSubmit={change =>
                starting.isPending || starting.mutate({ change, apis: items.data, warned: false })
              }
            />
          ) : (
            <Loading what="the selected APIs" />
          )}
        </>
      )}
    </InputDialog>
  )
}
