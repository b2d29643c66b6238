import { Refusal } from '@gantry/contracts'
import { expect, test } from 'vitest'

/** The compiler is the subject of these tests: `npm run check` fails at an expected error that does not occur. */

test('a refusal has a problem code of the contracts', () => {
  expect(new Refusal('api-not-found').code).toBe('api-not-found')
  // @ts-expect-error
  expect(new Refusal('api-lost').code).toBe('api-lost')
})
