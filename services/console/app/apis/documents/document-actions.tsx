import { Button, Menu, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useAllowed } from '../../http/session.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notifyDone, notifyFailed } from '../../parts/notify.ts'
import { save } from '../../parts/save.ts'
import { type DocumentRecord, readBytes, type VersionPath } from './reads.ts'
import { makePrimary, remove } from './uploads.ts'
import type { Uploading } from './use-upload.ts'

interface DocumentActionsProps {
  path: VersionPath
  document: DocumentRecord
  uploading: Uploading
}

/** What the person can do with a document. */
export function DocumentActions({ path, document, uploading }: DocumentActionsProps) {
  const { name, primary } = document
  const allowed = useAllowed('API_WRITE')
  const queries = useQueryClient()
  const [deleting, setDeleting] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const readAgain = () => queries.invalidateQueries({ queryKey: ['api', path.api_id] })
  const toPrimary = async () => {
    try {
      await makePrimary(path, document)
      notifyDone(`${name} is the primary document`)
    } catch (error) {
      notifyFailed(`${name} is not made the primary document`, error)
    }
    await readAgain()
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" aria-label={`Actions for ${name}`}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            onClick={() =>
              readBytes(path, name)
                .then(bytes => save(new Blob([bytes]), name))
                .catch(error => notifyFailed(`${name} is not downloaded`, error))
            }
          >
            Download
          </Menu.Item>
          {allowed && <Menu.Item onClick={() => file.current?.click()}>Replace</Menu.Item>}
          {allowed && !primary && <Menu.Item onClick={toPrimary}>Make primary</Menu.Item>}
          {allowed && <Menu.Item onClick={() => setDeleting(true)}>Delete</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <input
        ref={file}
        type="file"
        hidden
        aria-label={`File that replaces ${name}`}
        onChange={event => {
          uploading.drop([...(event.currentTarget.files ?? [])], document)
          event.currentTarget.value = ''
        }}
      />
      {deleting && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          action="Delete document"
          failed="The document is not deleted"
          color="red"
          onConfirm={async () => {
            await remove(path, document).finally(readAgain)
            notifyDone(`${name} is deleted`)
          }}
          onClose={() => setDeleting(false)}
        >
          <Text size="sm">
            Its operations leave the search.
            {primary && ' The oldest other document of the version becomes the primary one.'}
          </Text>
        </ConfirmDialog>
      )}
    </>
  )
}
