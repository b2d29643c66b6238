import '../more-styles.ts'
import { Button, Group, Modal, Stack } from '@mantine/core'
import { useState } from 'react'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import type { BulkAction } from './bulk-change.ts'
import { BulkForm } from './bulk-form.tsx'
import { useBulkItems } from './bulk-items.ts'
import { BulkProgress } from './bulk-progress.tsx'
import { BulkRun } from './bulk-run.ts'
import type { ApiList } from './search.ts'
import type { Selection } from './selection.ts'

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

/** Asks what to change, then changes the selected APIs and shows the result of each. */
export function BulkDialog({ action, list, selection, onClose }: BulkDialogProps) {
  const [selected] = useState(selection)
  const items = useBulkItems(list, selected)
  const [run, setRun] = useState<BulkRun>()
  return (
    <Modal
      opened
      onClose={() => onClose(false)}
      title={TITLES[action]}
      size="lg"
      withCloseButton={!run}
      closeOnEscape={!run}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {run ? (
        <BulkProgress run={run} onClose={onClose} />
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
      ) : items.data ? (
        <BulkForm
          action={action}
          apis={items.data}
          onCancel={() => onClose(false)}
          onSubmit={change => setRun(new BulkRun(change, items.data))}
        />
      ) : (
        <Loading what="the selected APIs" />
      )}
    </Modal>
  )
}
