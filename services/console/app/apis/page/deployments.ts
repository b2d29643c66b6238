import type { Schemas } from '../../http/schemas.ts'

/** What is known of an API in an environment. */
export interface Deployment {
  environment: string
  /** Absent if it is not deployed there. */
  deployedAt?: string
  /** The running job. */
  job?: NonNullable<Schemas['Api']['runningJobs']>[number]
}

/** The environments in which an API is deployed or has a running job, by their ids. */
export function deploymentsOf({ deployedOn = [], runningJobs = [] }: Schemas['Api']): Deployment[] {
  const found = new Map<string, Deployment>(deployedOn.map(entry => [entry.environment, entry]))
  for (const job of runningJobs)
    found.set(job.environment, { ...found.get(job.environment), environment: job.environment, job })
  return [...found.values()].sort((one, other) => one.environment.localeCompare(other.environment))
}
