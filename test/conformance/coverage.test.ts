import { expect, inject, test } from 'vitest'
import { contractOf } from './src/contract.ts'
import { readExercised } from './src/exercised.ts'

test('every operation of the document has succeeded in some story', () => {
  const succeeded = readExercised(inject('exercised'))
  const missing = contractOf(inject('document')).operations.filter(({ key }) => !succeeded.has(key))
  expect(missing.map(({ key }) => key)).toEqual([])
})
