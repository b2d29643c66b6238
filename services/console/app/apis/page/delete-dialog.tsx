import { Checkbox, Code, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notifyDone } from '../../parts/notify.ts'

interface DeleteDialogProps {
  api: Schemas['Api']
  etag: string
  onClose: () => void
}

/** Deletes an API after its name was typed. */
export function DeleteDialog({ api, etag, onClose }: DeleteDialogProps) {
  const [typed, setTyped] = useState('')
  const [undeploy, setUndeploy] = useState(true)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const environments = api.deployedOn?.length ?? 0
  const remove = async () => {
    const deletion = client.deleteApi(
      { api_id: api.id, undeploy: environments > 0 && undeploy },
      { ifMatch: etag },
    )
    await answer(deletion).catch(async error => {
      // The page below shows what has changed, and the next confirmation is about that.
      await queries.invalidateQueries({ queryKey: ['api', api.id, 'now'] })
      throw error
    })
    notifyDone(`${api.displayName} is deleted`)
    await navigate({ to: '/apis' })
    queries.removeQueries({ queryKey: ['api', api.id] })
    queries.invalidateQueries({ queryKey: ['apis'] })
  }
  return (
    <ConfirmDialog
      title={`Delete ${api.displayName}?`}
      action="Delete API"
      failed="The API is not deleted"
      color="red"
      disabled={typed.trim() !== api.name}
      onConfirm={remove}
      onClose={onClose}
    >
      <Text size="sm">
        Its versions and its image are deleted with it. Its history stays readable. A deleted API cannot be
        restored.
      </Text>
      {environments > 0 && (
        <Checkbox
          checked={undeploy}
          onChange={event => setUndeploy(event.currentTarget.checked)}
          label={`Undeploy it from ${environments === 1 ? 'its environment' : `all ${environments} environments`} first`}
        />
      )}
      <TextInput
        data-autofocus
        autoComplete="off"
        label={
          <>
            Type <Code>{api.name}</Code> to confirm
          </>
        }
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
