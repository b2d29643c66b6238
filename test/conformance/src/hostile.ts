import { expect } from 'vitest'
import type { Operation } from './contract.ts'
import { admin, anonymous, service } from './gantry.ts'
import { faultsOf } from './problem.ts'
import type { RawAnswer } from './raw.ts'
import type { Page } from './records.ts'

/** Every property is looked at with a seed that stays, and with one of this run, which the title of the test tells. */
export const SEEDS = [20_261_122, Date.now() % 2 ** 31]

const MOST_PAGES = 20

/** No hostile request harms what comes after it: the service is ready, and every page of every list is answered. */
export async function stillServes(): Promise<void> {
  ;(await anonymous.get('/health/live')).is(200)
  ;(await anonymous.get('/health/ready')).is(200)
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

/** An answer that is not a fault of the service: no 5xx but 503 for now, and a problem where it refuses. */
export function isNoFault({ status, headers, bytes }: RawAnswer, what: string): void {
  const text = bytes.toString()
  if (status >= 500) expect([what, status, text]).toEqual([what, 503, text])
  if (status < 400 || bytes.length === 0) return
  // Where no path could be read, the instance is empty.
  const problem = { ...JSON.parse(text), instance: JSON.parse(text).instance || 'none' }
  expect([what, ...faultsOf(problem, status, headers)]).toEqual([what])
}

/** The answer is one of the operation, as the document has it. */
export const isOf = (operation: Operation, answer: RawAnswer, head = false) =>
  service.contract.check(operation, { ...answer, head })
