import '../more-styles.ts'
import { Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import { EmptyPage, isBeyondEnd } from '../parts/empty-page.tsx'
import { durationText, jobText } from '../parts/job-text.ts'
import { JobStatus, progressText } from '../parts/job-view.tsx'
import { hasEnded, type Job, STATUSES } from '../parts/jobs.ts'
import { AnchorLink } from '../parts/links.tsx'
import { OwnerName } from '../parts/owner-name.tsx'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { OPENS_ITS_LINK } from '../parts/row-click.ts'
import { Empty, Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { readJobSearch } from './search.ts'

const route = getRouteApi('/inside/jobs')
const SIZE = 50
const BETWEEN_READS_MS = 2_000

const STATUS_CHOICES = [
  { value: '', label: 'Any status' },
  ...Object.entries(STATUSES).map(([value, [, label]]) => ({ value, label })),
]

/** The jobs of the person; for administrators those of all. */
export function JobsPage() {
  const search = readJobSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const { status, page = 1 } = search
  const jobs = useQuery({
    queryKey: ['jobs', 'list', status, page],
    queryFn: ({ signal }) =>
      answer(client.listJobs({ page, size: SIZE, ...(status && { status }) }, { signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.content.every(hasEnded) === false ? BETWEEN_READS_MS : false,
  })
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Jobs
        </Title>
        <NativeSelect
          aria-label="Status"
          data={STATUS_CHOICES}
          value={status ?? ''}
          onChange={event =>
            navigate({ search: readJobSearch({ status: event.currentTarget.value }), replace: true })
          }
        />
      </Group>
      <Text size="sm" maw="44rem">
        A job is a change of many APIs, an import of 20 or more files, or an import from URLs. The service
        runs it also when you close the console. Its page says for each API or file what came of it.
      </Text>
      {jobs.isPending && <Loading what="the jobs" />}
      {jobs.isError && (
        <ProblemPanel
          what="The jobs cannot be listed"
          error={jobs.error}
          onRetry={() => void jobs.refetch()}
        />
      )}
      {jobs.data?.totalElements === 0 && (
        <Empty title={status ? 'No job has this status' : 'No job yet'}>
          {status ? (
            'Choose another status.'
          ) : (
            <>
              Jobs start in the <AnchorLink to="/apis">list of APIs</AnchorLink>: select APIs with their
              checkboxes and change or delete them, or{' '}
              <AnchorLink to="/apis/import">import documents</AnchorLink>.
            </>
          )}
        </Empty>
      )}
      {jobs.data && isBeyondEnd(jobs.data) && (
        <EmptyPage onFirst={() => navigate({ search: readJobSearch({ status }), replace: true })} />
      )}
      {jobs.data && jobs.data.content.length > 0 && (
        <>
          <JobTable jobs={jobs.data.content} />
          <Pages
            what="jobs"
            one="job"
            page={jobs.data}
            onPage={page => navigate({ search: readJobSearch({ status, page }), replace: true })}
          />
        </>
      )}
    </Stack>
  )
}

function JobTable({ jobs }: { jobs: readonly Job[] }) {
  return (
    <Table verticalSpacing="sm" highlightOnHover aria-label="Jobs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Job</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th visibleFrom="sm">Progress</Table.Th>
          <Table.Th visibleFrom="sm">Started by</Table.Th>
          <Table.Th visibleFrom="sm">Started</Table.Th>
          <Table.Th visibleFrom="sm">Duration</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {jobs.map(job => (
          <Table.Tr key={job.id} {...OPENS_ITS_LINK}>
            <Table.Th scope="row" style={{ overflowWrap: 'anywhere' }}>
              <AnchorLink to="/jobs/$jobId" params={{ jobId: job.id }} size="sm">
                {jobText(job)}
              </AnchorLink>
              <Text size="xs" hiddenFrom="sm">
                {progressText(job)}, started <Time at={job.createdAt} /> by <OwnerName id={job.createdBy} />
              </Text>
            </Table.Th>
            <Table.Td>
              <JobStatus job={job} />
            </Table.Td>
            <Table.Td visibleFrom="sm">{progressText(job)}</Table.Td>
            <Table.Td visibleFrom="sm">
              <OwnerName id={job.createdBy} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Time at={job.createdAt} />
            </Table.Td>
            <Table.Td visibleFrom="sm">{durationText(job) ?? '–'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
