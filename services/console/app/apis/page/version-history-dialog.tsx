import { Modal } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { Schemas } from '../../http/schemas.ts'
import { HistoryList } from '../../parts/history-list.tsx'
import { titleOf } from './operations.ts'
import { versionHistoryQuery } from './reads.ts'

interface VersionHistoryDialogProps {
  version: Schemas['Version']
  onClose: () => void
}

/** The changes of a version. */
export function VersionHistoryDialog({ version, onClose }: VersionHistoryDialogProps) {
  const history = useInfiniteQuery(versionHistoryQuery(version.api, version.id))
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={`History of version ${version.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <HistoryList
        history={history}
        titleOf={entry => titleOf(entry, { versions: new Map([[version.id, version.name]]) })}
      />
    </Modal>
  )
}
