import { Alert, Button, Group, Progress, Stack, Switch, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import { useAllowed } from '../http/session.ts'
import { hasEnded, type Job, type JobResult, resultsQuery, STATUSES } from './jobs.ts'
import { AnchorLink } from './links.tsx'
import { LoggedName } from './logged-name.tsx'
import { Pages } from './pagination.tsx'
import { ProblemPanel } from './problem-panel.tsx'
import { StateBadge, toneOf } from './state-badge.tsx'
import { Loading } from './states.tsx'

export function JobStatus({ job: { status, failed } }: { job: Job }) {
  const [color, text] = STATUSES[status]
  if (status !== 'COMPLETED' || failed === 0) return <StateBadge color={color}>{text}</StateBadge>
  return (
    <StateBadge color="orange">
      {text}, {failed.toLocaleString('en')} failed
    </StateBadge>
  )
}

/** How far a job is in words, e.g. `2 of 3 done, 1 failed`; at its end `2 succeeded, 1 failed`. */
export function progressText(job: Job): string {
  const { status, total, done, failed } = job
  const number = (value: number) => value.toLocaleString('en')
  if (!hasEnded(job)) {
    const progress = `${number(done + failed)} of ${number(total)} done`
    return failed > 0 ? `${progress}, ${number(failed)} failed` : progress
  }
  const parts = [`${number(done)} succeeded`, `${number(failed)} failed`]
  const left = total - done - failed
  if (left > 0) parts.push(`${number(left)} not done`)
  if (status === 'CANCELLED') parts.push('cancelled')
  return parts.join(', ')
}

/** The progress of a job, the button that cancels it, and its results. */
export function JobView({ job }: { job: Job }) {
  const mayCancel = useAllowed('API_WRITE')
  const queries = useQueryClient()
  const cancelling = useMutation({
    mutationFn: () => answer(client.cancelJob({ job_id: job.id })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['jobs'] }),
  })
  const { done, failed, total, problem } = job
  return (
    <Stack>
      <Group wrap="nowrap">
        <Stack gap={4} flex={1}>
          <Progress.Root>
            <Progress.Section
              value={total === 0 ? 100 : (done / total) * 100}
              aria-label="Succeeded items"
              color={toneOf('cyan')}
            />
            {failed > 0 && (
              <Progress.Section
                value={(failed / total) * 100}
                aria-label="Failed items"
                color={toneOf('orange')}
              />
            )}
          </Progress.Root>
          <Text size="sm" role="status">
            {progressText(job)}
          </Text>
        </Stack>
        {!hasEnded(job) && mayCancel && (
          <Button variant="default" loading={cancelling.isPending} onClick={() => cancelling.mutate()}>
            Cancel job
          </Button>
        )}
      </Group>
      {cancelling.isError && <ProblemPanel what="The job is not cancelled" error={cancelling.error} />}
      {problem && (
        <Alert color="red" title={problem.title}>
          {problem.detail}
        </Alert>
      )}
      {done + failed > 0 && <Results job={job} />}
    </Stack>
  )
}

function Results({ job }: { job: Job }) {
  const [page, setPage] = useState(1)
  const [failed, setFailed] = useState(false)
  const results = useQuery(resultsQuery(job, page, failed))
  return (
    <Stack gap="xs">
      {job.failed > 0 && (
        <Switch
          label="Only what failed"
          checked={failed}
          onChange={event => {
            setFailed(event.currentTarget.checked)
            setPage(1)
          }}
        />
      )}
      {results.isPending && <Loading what="the results" />}
      {results.isError && (
        <ProblemPanel
          what="The results cannot be listed"
          error={results.error}
          onRetry={() => void results.refetch()}
        />
      )}
      {results.data && (
        <>
          <Table aria-label="Results" verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{job.type === 'IMPORT' ? 'API or line' : 'API'}</Table.Th>
                <Table.Th>Result</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {results.data.content.map((result, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an import may have several results of one API
                <ResultRow key={index} job={job} result={result} />
              ))}
            </Table.Tbody>
          </Table>
          <Pages what="results" page={results.data} onPage={setPage} />
        </>
      )}
    </Stack>
  )
}

const WORDS: Readonly<Record<JobResult['status'], string>> = {
  CREATED: 'Created',
  UPDATED: 'Changed',
  DELETED: 'Deleted',
  UNCHANGED: 'Skipped: nothing to change',
  FAILED: 'Failed',
}

function ResultRow({ job, result: { item, api, status, problem } }: { job: Job; result: JobResult }) {
  const isImport = job.type === 'IMPORT'
  const id = isImport ? api : item
  const isGone = status === 'DELETED' || problem?.code === 'api-not-found'
  const mayReadNames = useAllowed('AUDIT_LOG_READ')
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {isGone && mayReadNames ? (
          <LoggedName id={item} />
        ) : (
          <ApiName item={item} api={isGone ? null : id} named={isImport} />
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" {...(status === 'FAILED' && { fw: 600 })}>
          {WORDS[status]}
        </Text>
        {problem && <Problem {...problem} />}
      </Table.Td>
    </Table.Tr>
  )
}

const SHOWN = 5

/** Why an item failed, with the first errors in a document and their lines. */
export function Problem({ title, detail, errors = [] }: NonNullable<JobResult['problem']>) {
  return (
    <>
      <Text size="xs">
        {/* The detail repeats the first error. */}
        {title === detail || errors.length > 0 ? title : `${title}. ${detail}`}
      </Text>
      {errors.slice(0, SHOWN).map(({ line, message }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: errors have no identity but their place
        <Text size="xs" key={index}>
          {typeof line === 'number' && `Line ${line}: `}
          {message}
        </Text>
      ))}
      {errors.length > SHOWN && <Text size="xs">and {errors.length - SHOWN} more</Text>}
    </>
  )
}

/** An API of a job as a link. @param named whether the item is its name; else it is its id */
function ApiName({ item, api, named }: { item: string; api: string | null; named: boolean }) {
  const read = useQuery({
    queryKey: ['api', api, 'name'],
    queryFn: ({ signal }) => answer(client.getApi({ api_id: api ?? '' }, { signal })),
    enabled: api !== null && !named,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const text = read.data?.displayName ?? item
  if (api === null) return text
  return (
    <AnchorLink to="/apis/$apiId" params={{ apiId: api }} size="sm">
      {text}
    </AnchorLink>
  )
}
