import { Ready } from '@gantry/contracts'
import type { Replicas } from './replicas.ts'

const TIMEOUT_MS = 1_000

/** The time of one replica of a service, which uses the reference clock. @throws Error when the replica is not ready */
export async function referenceTime(replicas: Replicas, basePath: string): Promise<Date> {
  const response = await fetch(`${replicas.next()}${basePath}/health/ready`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  return new Date(Ready.parse(await response.json()).time)
}
