import { PUBLIC_EVENTS } from '@gantry/contracts'
import { expect, inject, test } from 'vitest'
import { clientOf } from './src/client.ts'
import { contractOf } from './src/contract.ts'
import { readExercised } from './src/exercised.ts'

const contract = contractOf(inject('document'))

test('every operation of the document has succeeded in some story', () => {
  const succeeded = readExercised(inject('exercised'))
  const missing = contract.operations.filter(({ key }) => !succeeded.has(key))
  expect(missing.map(({ key }) => key)).toEqual([])
})

test('every event that the stories caused has a read scope in the contracts', async () => {
  const service = { baseUrl: inject('baseUrl'), contract, exercised: () => {} }
  const admin = clientOf(service, inject('adminAuthorization'))
  const accept = { accept: 'application/x-ndjson' }
  const signal = AbortSignal.timeout(60_000)
  const { messages } = await admin.stream('/events', { follow: false }, accept, signal)
  const types = new Set<string>()
  for await (const { item } of messages) types.add((item as { type: string }).type)
  expect(types.size).toBeGreaterThan(0)
  expect([...types].filter(type => !Object.hasOwn(PUBLIC_EVENTS, type))).toEqual([])
})
