import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { JobView } from '../parts/job-view.tsx'
import { hasEnded, type Job, jobQuery } from '../parts/jobs.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'

interface BulkProgressProps {
  started: Job
  /** Starts the change again, for all APIs. @param warned whether those are deleted, too, that have changed meanwhile */
  onAgain: (warned: boolean) => void
  onClose: (allDone: boolean) => void
}

/** The progress of the job of a bulk change, which continues when the dialog is closed. */
export function BulkProgress({ started, onAgain, onClose }: BulkProgressProps) {
  const read = useQuery({ ...jobQuery(started.id), initialData: started, initialDataUpdatedAt: 0 })
  const queries = useQueryClient()
  const job = read.data
  const close = () => {
    queries.invalidateQueries({ queryKey: ['apis'] })
    queries.invalidateQueries({ queryKey: ['api'] })
    onClose(job.done === job.total)
  }
  const isComplete = job.done === job.total
  return (
    <Stack>
      <JobView job={job} />
      {read.isError && (
        <ProblemPanel
          what="The progress is not known"
          error={read.error}
          onRetry={() => void read.refetch()}
        />
      )}
      {!hasEnded(job) && (
        <Text size="sm">The change continues when you close this. You find it again under Jobs.</Text>
      )}
      <Group justify="flex-end">
        {hasEnded(job) && !isComplete && (
          // A job that was cancelled has not told the person about each API.
          <Button variant="default" onClick={() => onAgain(job.status === 'COMPLETED')}>
            {job.status === 'CANCELLED' ? 'Continue' : `Try ${job.failed.toLocaleString('en')} again`}
          </Button>
        )}
        <Button onClick={close} data-autofocus>
          Close
        </Button>
      </Group>
    </Stack>
  )
}
