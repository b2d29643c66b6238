import { useEnvironmentNames } from '../parts/environments.ts'
import { jobText } from '../parts/job-text.ts'
import type { Job } from '../parts/jobs.ts'
import { secondOf } from '../parts/local-time.ts'
import { LoggedName } from '../parts/logged-name.tsx'
import type { Entry } from './entries.ts'

/** The resource of an entry in words, after the name of the API that it belongs to. */
export function ResourceName({ entry }: { entry: Entry }) {
  const { resourceType, resourceId, details, environment } = entry
  const environments = useEnvironmentNames(environment !== null)
  const state: Record<string, unknown> = details.after ?? details.before ?? {}
  const { api, webhook, eventType, from, to } = state
  const own = nameIn(state)
  if (resourceType === 'JOB') return jobText(state as Pick<Job, 'type' | 'total' | 'change'>)
  if (resourceType === 'RECOVERY' && typeof webhook === 'string')
    return (
      <>
        <LoggedName id={webhook} />, {secondOf(String(from))} to {secondOf(String(to))}
      </>
    )
  if (typeof webhook === 'string')
    return (
      <>
        {typeof eventType === 'string' && `${eventType} to `}
        <LoggedName id={webhook} />
      </>
    )
  if (environment !== null) return `${own ?? resourceId} › ${environments.get(environment) ?? environment}`
  if (typeof api !== 'string') return own ?? resourceId
  return (
    <>
      <LoggedName id={api} /> › {own ?? (resourceType === 'API_IMAGE' ? 'Image' : resourceId)}
    </>
  )
}

const nameIn = ({ displayName, name, username }: Record<string, unknown>): string | undefined => {
  const found = displayName ?? name ?? username
  return found === undefined || found === null ? undefined : String(found)
}
