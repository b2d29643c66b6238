import { get } from 'node:http'
import type { ServiceProcess } from '@gantry/standalone/testing'
import { megabytesOf } from './log.ts'

/**
 * Downloads a resource as NDJSON over one connection.
 * @returns lines per second, and the largest resident memory of the service above that before, in megabytes
 * @throws Error when there are fewer lines than `least`
 */
export async function download(service: ServiceProcess, path: string, least: number) {
  const idle = await megabytesOf(service.pid)
  let most = idle
  const sampling = setInterval(async () => {
    most = Math.max(most, await megabytesOf(service.pid))
  }, 100)
  const startedAt = performance.now()
  const count = await new Promise<number>((resolve, reject) => {
    const headers = { authorization: service.authorization, accept: 'application/x-ndjson' }
    get(`${service.url}${path}`, { headers }, answer => {
      let lines = 0
      answer
        .on('data', (chunk: Buffer) => {
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
        })
        .on('end', () => resolve(lines))
        .on('error', reject)
    }).on('error', reject)
  }).finally(() => clearInterval(sampling))
  if (count < least) throw new Error(`${path} answered ${count} lines`)
  return { rate: count / ((performance.now() - startedAt) / 1_000), megabytes: most - idle }
}
