import { plainKey } from '@gantry/service-runtime'
import { expect, test } from 'vitest'
import { signingKeys } from './signing.ts'

test('a rotated secret signs until its end, after its successor', () => {
  const keys = signingKeys(plainKey(Buffer.alloc(32)))
  const secrets = [
    { sealed: keys.seal(Buffer.from('new')), until: null },
    { sealed: keys.seal(Buffer.from('old')), until: '2026-11-22T10:00:00.000Z' },
  ]
  const valid = (now: string) => keys.valid(secrets, new Date(now)).map(key => key.export().toString())
  expect(valid('2026-11-22T09:59:59.999Z')).toEqual(['new', 'old'])
  expect(valid('2026-11-22T10:00:00.000Z')).toEqual(['new'])
})
