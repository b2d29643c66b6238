import fc from 'fast-check'
import { expect } from 'vitest'
import type { Operation } from './contract.ts'
import { admin, anonymous, service } from './gantry.ts'
import { faultsOf } from './problem.ts'
import type { RawAnswer } from './raw.ts'
import type { Page } from './records.ts'

/** Random requests with a fixed seed, so that every run sends the same ones. */
export const sample = <T>(request: fc.Arbitrary<T>, numRuns: number): T[] =>
  fc.sample(request, { seed: 20_261_122, numRuns })

/** Sends the requests in batches of ten. @returns how often each status occurred; undefined is no response */
export async function sendAll<T>(
  requests: readonly T[],
  send: (request: T) => Promise<number | undefined>,
): Promise<Map<number | undefined, number>> {
  const counts = new Map<number | undefined, number>()
  for (let at = 0; at < requests.length; at += 10)
    for (const status of await Promise.all(requests.slice(at, at + 10).map(send)))
      counts.set(status, (counts.get(status) ?? 0) + 1)
  return counts
}

const MOST_PAGES = 20

export async function isReady(): Promise<void> {
  ;(await anonymous.get('/health/live')).is(200)
  ;(await anonymous.get('/health/ready')).is(200)
}

/** Checks that no stored value prevents reading: the service serves every page of every list. */
export async function listsEverything(): Promise<void> {
  for (const { method, template, definition } of service.contract.operations) {
    const isList = (definition.parameters ?? []).some(
      parameter => 'name' in parameter && parameter.name === 'page',
    )
    if (method !== 'GET' || !isList || template.includes('{')) continue
    for (let page = 1; page <= MOST_PAGES; page++) {
      const { last } = (await admin.get(template, { page, size: 100 })).as<Page<unknown>>(200)
      if (last) break
    }
  }
}

/** Checks that a response is not an internal error: no 5xx except 503, and refusals are complete problems. */
export function isNoFault({ status, headers, bytes }: RawAnswer, what: string): void {
  const text = bytes.toString()
  if (status >= 500) expect([what, status, text]).toEqual([what, 503, text])
  if (status < 400 || bytes.length === 0) return
  // The instance is empty when the path of the request could not be parsed.
  const problem = { ...JSON.parse(text), instance: JSON.parse(text).instance || 'none' }
  expect([what, ...faultsOf(problem, status, headers)]).toEqual([what])
}

/** Checks that the document lists the response for the operation. */
export const isOf = (operation: Operation, answer: RawAnswer, head = false) =>
  service.contract.check(operation, { ...answer, head })
