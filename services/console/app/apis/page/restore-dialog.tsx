import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { exactTime } from '../../parts/time.tsx'
import { readAgain } from './reads.ts'

const route = getRouteApi('/inside/apis/$apiId')

interface RestoreDialogProps {
  api: Schemas['Api']
  etag: string
  at: string
  onClose: () => void
  /** The differences. */
  children: ReactNode
}

/** Restores the fields of an API after a confirmation that shows what changes. */
export function RestoreDialog({ api, etag, at, onClose, children }: RestoreDialogProps) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const restore = async () => {
    const restoration = client.restoreApi({ api_id: api.id, body: { at } }, { ifMatch: etag })
    await answer(restoration).catch(async error => {
      // The differences in the dialog become those to the current state.
      await queries.invalidateQueries({ queryKey: ['api', api.id, 'now'] })
      throw error
    })
    await readAgain(queries, api.id)
    notifyDone(`${api.displayName} is restored`)
    await navigate({ search: { tab: 'history' }, replace: true })
  }
  return (
    <ConfirmDialog
      title="Restore this state?"
      action="Restore"
      failed="The state is not restored"
      onConfirm={restore}
      onClose={onClose}
    >
      <Text size="sm">
        These fields become what they were on {exactTime(at)}. Versions, image and deployments stay as they
        are.
      </Text>
      {children}
    </ConfirmDialog>
  )
}
