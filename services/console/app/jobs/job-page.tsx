import '../more-styles.ts'
import { Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { durationText, jobText } from '../parts/job-text.ts'
import { JobStatus, JobView } from '../parts/job-view.tsx'
import { jobQuery } from '../parts/jobs.ts'
import { OwnerName } from '../parts/owner-name.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { Trail } from '../parts/trail.tsx'
import { Again } from './again.tsx'

const route = getRouteApi('/inside/jobs/$jobId')

/** A job with its progress, while it runs, and its results. */
export function JobPage() {
  const { jobId } = route.useParams()
  const job = useQuery(jobQuery(jobId))
  return (
    <Stack maw="60rem">
      <Trail to="/jobs" label="Jobs" page={job.data ? jobText(job.data) : 'Job'} />
      {job.isPending && <Loading what="the job" />}
      {job.isError && (
        <ProblemPanel what="The job cannot be read" error={job.error} onRetry={() => void job.refetch()} />
      )}
      {job.data && (
        <>
          <Group>
            <Title order={1} size="h2">
              {jobText(job.data)}
            </Title>
            <JobStatus job={job.data} />
          </Group>
          <Text size="sm" component="div">
            Started <Time at={job.data.createdAt} /> by <OwnerName id={job.data.createdBy} />
            {durationText(job.data) && `, took ${durationText(job.data)}`}
          </Text>
          {job.data.change?.owner && (
            <Text size="sm" component="div">
              New owner: <OwnerName id={job.data.change.owner} />
            </Text>
          )}
          <Again job={job.data} />
          <JobView key={jobId} job={job.data} />
        </>
      )}
    </Stack>
  )
}
