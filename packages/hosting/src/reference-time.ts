import { Ready } from '@gantry/contracts'
import type { Replicas } from './replicas.ts'

const PATIENCE_MS = 1_000

/** What time it is by the services, which have a store in common. @throws Error when the replica asked is not ready */
export async function referenceTime(replicas: Replicas, basePath: string): Promise<Date> {
  const response = await fetch(`${replicas.next()}${basePath}/health/ready`, {
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  return new Date(Ready.parse(await response.json()).time)
}
