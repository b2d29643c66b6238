import { expect, test } from 'vitest'
import { bestOf } from './operations.ts'

test('of operations of a resource, those come first that do what the first word says', () => {
  const of = (path: string, summary: string) => ({ path, summary, operationId: null })
  const found = [
    of('/refunds', 'Returns refunds that you have created'),
    of('/v1/refunds', 'Create a refund'),
  ]
  expect(bestOf(found, 'create refund').map(({ path }) => path)).toEqual(['/v1/refunds', '/refunds'])
})

test('operations with a word in the name of their resource come before those that mention it', () => {
  const of = (path: string, summary = '') => ({ path, summary, operationId: null })
  const found = [
    of('/#Action=Buy', 'Buys a non-refundable node'),
    of('/v1/charges/{charge}/refunds/{refund}'),
    of('/v1/refundPolicies/all'),
    of('/v1/refunds'),
  ]
  expect(bestOf(found, 'Refund').map(({ path }) => path)).toEqual([
    '/v1/refunds',
    '/v1/charges/{charge}/refunds/{refund}',
    '/v1/refundPolicies/all',
    '/#Action=Buy',
  ])
})
