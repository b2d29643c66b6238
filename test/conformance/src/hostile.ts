import { expect } from 'vitest'
import type { Operation } from './contract.ts'
import { admin, anonymous, service } from './gantry.ts'
import { faultsOf } from './problem.ts'
import type { RawAnswer } from './raw.ts'
import type { Page } from './records.ts'

/** Every property is tested with a fixed seed and with a seed of this run, which is part of the test title. */
export const SEEDS = [20_261_122, Date.now() % 2 ** 31]

const MOST_PAGES = 20

/** Checks that hostile requests caused no damage: the service is ready and serves every page of every list. */
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
