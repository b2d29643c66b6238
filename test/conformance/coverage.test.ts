import { PUBLIC_EVENTS } from '@gantry/contracts'
import { expect, inject, test } from 'vitest'
import { clientOf } from './src/client.ts'
import { contractOf } from './src/contract.ts'
import { readExercised } from './src/exercised.ts'
import { checkedBy } from './src/schema.ts'

const contract = contractOf(inject('document'))

test('every operation of the document has succeeded in some story', () => {
  const succeeded = readExercised(inject('exercised'))
  const missing = contract.operations.filter(({ key }) => !succeeded.has(key))
  expect(missing.map(({ key }) => key)).toEqual([])
})

test('every event that the stories caused has a read scope, and conforms to its schema', async () => {
  const service = { baseUrl: inject('baseUrl'), contract, exercised: () => {} }
  const admin = clientOf(service, inject('adminAuthorization'))
  const accept = { accept: 'application/x-ndjson' }
  const signal = AbortSignal.timeout(60_000)
  const { messages } = await admin.stream('/events', {}, accept, signal)
  const schemas = new Map<string, (value: unknown) => string[]>()
  const faults: string[] = []
  for await (const { item } of messages) {
    const { type, version = 1, data } = item as { type: string; version?: number; data: object }
    const path = `/events/schemas/${type}/${version}`
    const check = schemas.get(path) ?? checkedBy((await admin.get(path)).as<object>(200))
    schemas.set(path, check)
    faults.push(...check(data).map(fault => `${path} ${fault}`))
    if (!Object.hasOwn(PUBLIC_EVENTS, type)) faults.push(`${type} has no read scope`)
  }
  expect(schemas.size).toBeGreaterThan(0)
  expect(faults).toEqual([])
})
