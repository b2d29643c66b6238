import { Alert, Button, Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { useAllowed } from '../http/session.ts'
import { whenAdmitted } from '../parts/admitted.ts'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { useIdempotencyKey } from '../parts/idempotency.ts'
import { hasEnded, type Job } from '../parts/jobs.ts'
import { AnchorLink } from '../parts/links.tsx'

const route = getRouteApi('/inside/jobs/$jobId')
/** The largest page of the REST interface. */
const LARGEST = 100

/** How what failed is done again, after the end of a job: by a new job for a bulk change. */
export function Again({ job }: { job: Job }) {
  const mayChange = useAllowed('API_WRITE')
  const [asking, ask] = useState(false)
  if (!hasEnded(job) || job.failed === 0 || !mayChange) return null
  const count = `${job.failed === 1 ? 'one' : job.failed.toLocaleString('en')} that failed`
  if (job.type === 'IMPORT')
    return (
      <Alert color="orange" title={`To import the ${count} again`}>
        Mend the documents that the results name, and <AnchorLink to="/apis/import">import</AnchorLink> them
        again. Those that are imported already can be imported with them: what has not changed stays as it is.
      </Alert>
    )
  if (!job.change) return null
  return (
    <Group>
      <Button variant="default" onClick={() => ask(true)}>
        Try the {count} again
      </Button>
      {asking && (
        <AgainDialog
          job={job}
          change={job.change}
          title={`Try the ${count} again?`}
          onClose={() => ask(false)}
        />
      )}
    </Group>
  )
}

interface AgainDialogProps {
  job: Job
  change: NonNullable<Job['change']>
  title: string
  onClose: () => void
}

function AgainDialog({ job, change, title, onClose }: AgainDialogProps) {
  const navigate = route.useNavigate()
  const keys = useIdempotencyKey()
  const start = async () => {
    const body = { ids: await failedOf(job), change: againOf(change) }
    const { id } = await answer(client.changeApis({ body }, { idempotencyKey: keys.for(body) }))
    queries.invalidateQueries({ queryKey: ['jobs', 'list'] })
    await navigate({ to: '/jobs/$jobId', params: { jobId: id } })
  }
  return (
    <ConfirmDialog
      title={title}
      action={change.delete ? 'Delete' : 'Start a new job'}
      failed="The new job is not started"
      {...(change.delete && { color: 'red' as const })}
      onConfirm={start}
      onClose={onClose}
    >
      <Text size="sm">
        {change.delete
          ? 'A new job deletes these APIs, also those that were changed since this job. It cannot be undone.'
          : 'A new job makes the same change to these APIs.'}
      </Text>
    </ConfirmDialog>
  )
}

/** The change for another job. The time until which APIs had to be unchanged is that of the new job. */
function againOf({ delete: deletion, ...others }: AgainDialogProps['change']): Schemas['BulkChange'] {
  return { ...others, ...(deletion && { delete: { undeploy: deletion.undeploy } }) }
}

/** The ids of the APIs for which a bulk change has failed. */
async function failedOf({ id }: Job): Promise<string[]> {
  const { signal } = new AbortController()
  const ids: string[] = []
  for (let page = 1, last = false; !last; page++) {
    const query = { job_id: id, status: 'FAILED' as const, page, size: LARGEST }
    const body = await whenAdmitted(() => answer(client.listJobResults(query, { signal })), signal)
    ids.push(...body.content.map(({ item }) => item))
    last = body.last
  }
  return ids
}
