import type { Schemas } from '../../http/schemas.ts'

/** What is known of an API in an environment. */
export interface Deployment {
  environment: string
  environmentName: string | null
  /** Absent if it is not deployed there. */
  deployedAt?: string
  /** The running job. */
  job?: NonNullable<Schemas['Api']['runningJobs']>[number]
}

/** The environments in which an API is deployed or has a running job. @param order ids of environments in their order */
export function deploymentsOf(
  { deployedOn = [], runningJobs = [] }: Schemas['Api'],
  order: readonly string[] = [],
): Deployment[] {
  const found = new Map<string, Deployment>(deployedOn.map(entry => [entry.environment, entry]))
  for (const job of runningJobs)
    found.set(job.environment, { ...found.get(job.environment), ...namedIn(job), job })
  const known = order.flatMap(id => found.get(id) ?? [])
  return [...new Set([...known, ...found.values()])]
}

const namedIn = ({ environment, environmentName }: Omit<Deployment, 'job'>) => ({
  environment,
  environmentName,
})

type Entry = Pick<Schemas['HistoryEntry'], 'operation' | 'timestamp' | 'who'>

const STARTS: readonly string[] = ['API_DEPLOYMENT_STARTED', 'API_UNDEPLOYMENT_STARTED']
const ENDS: readonly string[] = ['API_DEPLOYED', 'API_UNDEPLOYED', 'API_DEPLOYMENT_FAILED']

/**
 * Who started the job that started or ended at a time. Entries do not name their jobs: undefined if jobs of several people
 * ran at that time, or if the history was not read so far back.
 * @param entries the history of the API, newest first
 */
export function starterOf(at: string, entries: readonly Entry[]): Entry['who'] | undefined {
  let candidates: Entry['who'][] = []
  let ended = 0
  for (const { operation, timestamp, who } of entries.toReversed()) {
    if (STARTS.includes(operation)) {
      if (timestamp === at) return who
      candidates.push(who)
    }
    if (!ENDS.includes(operation)) continue
    if (timestamp === at)
      return new Set(candidates.map(one => one?.id)).size === 1 ? candidates[0] : undefined
    // Without a running job the next one is again without doubt.
    if (++ended >= candidates.length) [candidates, ended] = [[], 0]
  }
  return undefined
}
