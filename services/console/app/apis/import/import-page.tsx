import '../../more-styles.ts'
import { Button, Center, FileButton, Group, Progress, Stack, Text, TextInput, Title } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { useAllowed } from '../../http/session.ts'
import { OVER, useDrop } from '../../parts/drop.ts'
import { RunningGuard } from '../../parts/leave-guards.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Trail } from '../../parts/trail.tsx'
import { ImportTable } from './import-table.tsx'
import { changesOf } from './requests.ts'
import { type Importing, type Item, useImport } from './use-import.ts'

/** The page that makes APIs from documents: it says what each would do, and imports them after a confirmation. */
export function ImportPage() {
  const navigate = useNavigate()
  const importing = useImport(jobId => {
    void navigate({ to: '/jobs/$jobId', params: { jobId }, ignoreBlocker: true })
  })
  const { isPending } = importing.importing
  const { over, ...dropping } = useDrop(files => importing.add(files.map(file => ({ file }))), !isPending)
  return (
    <Stack {...dropping} style={over ? OVER : {}} component="section" aria-label="Import">
      <RunningGuard running={isPending} />
      <Trail to="/apis" label="APIs" page="Import" />
      <Title order={1} size="h2">
        Import APIs
      </Title>
      <Sources importing={importing} />
      {importing.items.length > 0 && (
        <>
          <Confirmation importing={importing} />
          {importing.importing.isError && (
            <ProblemPanel what="The documents are not imported" error={importing.importing.error} />
          )}
          <ImportTable items={importing.items} onRemove={isPending ? undefined : importing.remove} />
        </>
      )}
    </Stack>
  )
}

function Sources({ importing: { add, importing } }: { importing: Importing }) {
  const reset = useRef<() => void>(null)
  const [url, setUrl] = useState('')
  // The service reads a URL in a job.
  const mayReadJobs = useAllowed('JOBS_READ')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add([{ url: url.trim() }])
    setUrl('')
  }
  return (
    <Center style={{ border: '1px dashed var(--mantine-color-gray-6)', borderRadius: 8 }} py="lg" px="md">
      <Stack align="center" gap="sm" w="100%" maw={520}>
        <Title order={2} size="h4">
          Drop files here
        </Title>
        <Text ta="center" size="sm">
          OpenAPI, AsyncAPI, WSDL, Postman and others, one or many. You see what would happen first. The
          unique name of an API is its x-gantry-name, or else its provider and title.
        </Text>
        <FileButton
          multiple
          resetRef={reset}
          onChange={files => {
            reset.current?.()
            add(files.map(file => ({ file })))
          }}
        >
          {props => (
            <Button {...props} disabled={importing.isPending}>
              Choose files
            </Button>
          )}
        </FileButton>
        {mayReadJobs && (
          <form onSubmit={submit} style={{ width: '100%' }}>
            <Group align="end" gap="xs">
              <TextInput
                label="Or the URL of a document"
                type="url"
                placeholder="https://example.com/openapi.json"
                flex={1}
                value={url}
                onChange={event => setUrl(event.currentTarget.value)}
              />
              <Button type="submit" variant="default" disabled={url.trim() === '' || importing.isPending}>
                Check
              </Button>
            </Group>
          </form>
        )}
      </Stack>
    </Center>
  )
}

/** What would happen in numbers, the button that starts it, and its progress. */
function Confirmation({ importing }: { importing: Importing }) {
  const { items, planned, isChecking, clear, cancel, importing: run } = importing
  const checked = items.filter(({ state }) => state !== 'checking').length
  const done = items.filter(({ state }) => state === 'done').length
  return (
    <Stack gap="xs">
      {isChecking && (
        <Progress value={(checked / items.length) * 100} aria-label="Checked documents" size="sm" />
      )}
      {run.isPending && (
        <Progress
          value={(done / Math.max(1, done + planned.length)) * 100}
          aria-label="Imported documents"
          size="sm"
        />
      )}
      <Group justify="space-between">
        <Text size="sm" role="status">
          {isChecking ? `${checked} of ${items.length} checked` : summaryOf(items)}
        </Text>
        <Group gap="xs">
          {run.isPending ? (
            <Button variant="default" onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <>
              <Button variant="default" onClick={clear}>
                Clear the list
              </Button>
              {planned.length > 0 && (
                <Button disabled={isChecking} onClick={() => run.mutate()}>
                  Import {planned.length === 1 ? 'the document' : `${planned.length} documents`}
                </Button>
              )}
            </>
          )}
        </Group>
      </Group>
    </Stack>
  )
}

/**
 * What an import would do, e.g. `12 new APIs, 3 new versions, 30 unchanged, 1 refused`; once it has begun, how far it is, e.g.
 * `2 imported, 1 to import, 1 refused`.
 */
function summaryOf(items: Importing['items']): string {
  const inState = (...states: Item['state'][]) => items.filter(({ state }) => states.includes(state))
  const planned = inState('planned')
  const unchanged = planned.filter(({ outcome }) => outcome?.status === 'UNCHANGED').length
  const done = inState('done').length
  const isBegun = done + inState('importing').length > 0
  const toImport = planned.length - unchanged + inState('importing').length
  const parts: (string | false)[] = [
    done > 0 && `${number(done)} imported`,
    ...(isBegun ? [toImport > 0 && `${number(toImport)} to import`] : planText(planned)),
    unchanged > 0 && `${number(unchanged)} unchanged`,
    inState('refused').length > 0 && `${number(inState('refused').length)} refused`,
  ]
  return parts.filter(Boolean).join(', ')
}

function planText(planned: readonly Item[]): string[] {
  const kinds = [...changesOf(planned).values()]
  return (['New API', 'New version', 'Update'] as const).flatMap(kind => {
    const count = kinds.filter(one => one === kind).length
    const text = kind.replace(/^./, letter => letter.toLowerCase())
    return count === 0 ? [] : [`${number(count)} ${text}${count === 1 ? '' : 's'}`]
  })
}

const number = (value: number) => value.toLocaleString('en')
