import { Alert, Button, FileButton, Group, Modal, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { asProblem } from '../../http/problem.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { textOf } from './reads.ts'
import { type Note, type NoteGroup, SourceLines } from './source-lines.tsx'
import type { Uploading } from './use-upload.ts'

interface ChooseFileProps {
  label: string
  disabled?: boolean
  onChoose: (file: File) => void
}

/** A button that chooses a file. */
export function ChooseFile({ label, disabled, onChoose }: ChooseFileProps) {
  const reset = useRef<() => void>(null)
  const choose = (file: File | null) => {
    // Otherwise the browser would not report the same file again, e.g. after a failed upload.
    reset.current?.()
    if (file) onChoose(file)
  }
  return (
    <FileButton resetRef={reset} onChange={choose}>
      {props => (
        <Button {...props} disabled={disabled ?? false}>
          {label}
        </Button>
      )}
    </FileButton>
  )
}

/** The progress of an upload, what is wrong with the file, and the question before a document is replaced. */
export function UploadPanel({ uploading }: { uploading: Uploading }) {
  const { version, storing, part, asked, replace, keep, cancel } = uploading
  const { variables } = storing
  const name = variables && 'file' in variables ? variables.name : 'The file'
  return (
    <>
      {storing.isPending && (
        <Stack gap={4} role="status">
          <Group justify="space-between">
            <Text size="sm">
              {part < 1
                ? `Sending ${name} to version ${version}: ${Math.round(part * 100)} %`
                : `Checking ${name}`}
            </Text>
            <Button size="compact-sm" variant="default" onClick={cancel}>
              Cancel
            </Button>
          </Group>
          <Progress value={Math.max(3, part * 100)} animated={part >= 1} aria-label={`Upload of ${name}`} />
        </Stack>
      )}
      {storing.isError && !isCancelled(storing.error) && (
        <Refused
          name={name}
          file={variables && 'file' in variables ? variables.file : undefined}
          error={storing.error}
          onClose={storing.reset}
        />
      )}
      {asked && (
        <Modal
          opened
          onClose={keep}
          title={`Replace ${asked.name}?`}
          closeButtonProps={{ 'aria-label': 'Close' }}
        >
          <Stack>
            <Text size="sm">
              Version {version} has a document of this name. {asked.file.name} takes its place; the history of
              the API keeps the earlier content.
            </Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={keep} data-autofocus>
                Cancel
              </Button>
              <Button onClick={replace}>Replace</Button>
            </Group>
          </Stack>
        </Modal>
      )}
    </>
  )
}

const isCancelled = (error: Error) => error.message === 'cancelled'

interface RefusedProps {
  name: string
  file: File | undefined
  error: Error
  onClose: () => void
}

/** Why a document is not stored. Errors in it are shown beside the lines of the file. */
function Refused({ name, file, error, onClose }: RefusedProps) {
  const { code, members } = asProblem(error)
  const notes = code === 'document-invalid' ? notesOf(members?.errors) : []
  if (!file || notes.length === 0)
    return (
      <Stack gap="xs">
        <ProblemPanel what={`${name} is not stored`} error={error} />
        <Dismiss onClose={onClose} />
      </Stack>
    )
  return (
    <Alert
      color="red"
      role="alert"
      title={`${name} is not stored: it has ${notes.length === 1 ? 'an error' : `${notes.length} errors`}`}
    >
      <Stack gap="xs">
        <Text size="sm">Correct the file, then drop it again.</Text>
        <FileSource name={name} file={file} notes={notes} />
        <Dismiss onClose={onClose} />
      </Stack>
    </Alert>
  )
}

function Dismiss({ onClose }: { onClose: () => void }) {
  return (
    <Group>
      <Button size="xs" variant="default" onClick={onClose}>
        Dismiss
      </Button>
    </Group>
  )
}

function FileSource({ name, file, notes }: { name: string; file: File; notes: readonly Note[] }) {
  const text = useQuery({
    queryKey: ['file', name, file.lastModified, file.size],
    queryFn: async () => textOf(await file.arrayBuffer()),
    gcTime: 0,
  })
  return text.data === undefined ? null : (
    <SourceLines label={name} text={text.data} groups={groupsOf(notes)} />
  )
}

const groupsOf = (notes: readonly Note[]): NoteGroup[] =>
  [...Map.groupBy(notes, ({ message }) => message)].map(([title, alike]) => ({
    ...{ severity: 'ERROR', title, count: alike.length, notes: alike },
  }))

function notesOf(errors: unknown): Note[] {
  if (!Array.isArray(errors)) return []
  return errors.map(error => ({ line: null, column: null, pointer: null, ...error, severity: 'ERROR' }))
}
