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

type Entry = Pick<Schemas['HistoryEntry'], 'operation' | 'timestamp' | 'who' | 'environment'>

const STARTS: readonly string[] = ['API_DEPLOYMENT_STARTED', 'API_UNDEPLOYMENT_STARTED']

/**
 * Who started the job that started or ended at a time: the latest start in its environment, which has one job at a time.
 * Undefined if the history was not read so far back.
 * @param entries the history of the API, newest first
 */
export function starterOf(at: string, entries: readonly Entry[]): Entry['who'] | undefined {
  const from = entries.findIndex(({ timestamp, environment }) => timestamp === at && environment !== null)
  const environment = entries[from]?.environment
  return entries.slice(Math.max(from, 0)).find(entry => {
    return STARTS.includes(entry.operation) && entry.environment === environment
  })?.who
}
