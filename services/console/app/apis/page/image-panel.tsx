import { Button, FileButton, Group, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { answer, client } from '../../http/client.ts'
import { RequestFailed } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { OVER, useDrop } from '../../parts/drop.ts'
import { notifyDone } from '../../parts/notify.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { ApiImage } from './image.tsx'
import { readAgain } from './reads.ts'

const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml']
const MAX_BYTES = 5 * 1_048_576

/** Why files cannot be uploaded, as far as that is known without the service; undefined if one can be. */
function refusalOf(files: readonly File[]): RequestFailed | undefined {
  const refused = (title: string, detail: string) =>
    new RequestFailed({ status: 0, code: 'image-refused', title, detail })
  const [file, ...others] = files
  if (!file || others.length > 0) return refused('An API has one image', 'Choose a single file.')
  if (file.type !== '' && !TYPES.includes(file.type))
    return refused('The file is not PNG, JPEG, GIF, WebP or SVG', `${file.name} is ${file.type}.`)
  if (file.size > MAX_BYTES)
    return refused(
      'The image is too large',
      `${file.name} has ${(file.size / 1_048_576).toFixed(1)} MiB, and at most 5 MiB are allowed.`,
    )
  return undefined
}

async function upload(id: string, files: readonly File[]) {
  const refusal = refusalOf(files)
  if (refusal) throw refusal
  return answer(client.uploadImage({ api_id: id, body: files[0] as File }))
}

/** The image of an API, with its upload by drag and drop or with a button. */
export function ImagePanel({ api }: { api: Schemas['Api'] }) {
  const allowed = useAllowed('API_WRITE')
  const queries = useQueryClient()
  const uploading = useMutation({
    mutationFn: (files: readonly File[]) => upload(api.id, files),
    async onSuccess() {
      await readAgain(queries, api.id)
      notifyDone('The image is saved')
    },
  })
  const { over, ...dropping } = useDrop(files => uploading.mutate(files), allowed)
  if (!allowed && !api.hasImage) return null
  return (
    <Paper withBorder p="md" component="section" aria-label="Image" {...dropping} style={over ? OVER : {}}>
      <Stack gap="xs">
        {api.hasImage ? (
          <ApiImage id={api.id} size={160} alt={`Image of ${api.displayName}`} />
        ) : (
          <Text size="sm" fw={600}>
            No image
          </Text>
        )}
        {uploading.isError && <ProblemPanel what="The image is not saved" error={uploading.error} />}
        {allowed && (
          <ImageActions
            api={api}
            uploading={uploading.isPending}
            onChoose={file => uploading.mutate([file])}
          />
        )}
      </Stack>
    </Paper>
  )
}

interface ImageActionsProps {
  api: Schemas['Api']
  uploading: boolean
  onChoose: (file: File) => void
}

function ImageActions({ api, uploading, onChoose }: ImageActionsProps) {
  const [deleting, setDeleting] = useState(false)
  const reset = useRef<() => void>(null)
  const choose = (file: File | null) => {
    // Otherwise the browser would not report the same file again, e.g. after a failed upload.
    reset.current?.()
    if (file) onChoose(file)
  }
  const queries = useQueryClient()
  const remove = async () => {
    await answer(client.deleteImage({ api_id: api.id }))
    await readAgain(queries, api.id)
  }
  return (
    <>
      <Text size="xs" c="dimmed">
        Drop an image here: PNG, JPEG, GIF, WebP or SVG, at most 5 MiB.
      </Text>
      <Group>
        <FileButton accept={TYPES.join(',')} resetRef={reset} onChange={choose}>
          {props => (
            <Button {...props} variant="default" size="xs" loading={uploading}>
              {api.hasImage ? 'Replace image' : 'Choose image'}
            </Button>
          )}
        </FileButton>
        {api.hasImage && (
          <Button variant="default" size="xs" onClick={() => setDeleting(true)}>
            Delete image
          </Button>
        )}
      </Group>
      {deleting && (
        <ConfirmDialog
          title="Delete the image?"
          action="Delete image"
          failed="The image is not deleted"
          color="red"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <Text size="sm">{api.displayName} has no image then. It cannot be restored.</Text>
        </ConfirmDialog>
      )}
    </>
  )
}
