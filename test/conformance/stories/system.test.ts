import { expect, test } from 'vitest'
import { admin, eventually } from '../src/gantry.ts'

interface System {
  services: { name: string; status: string; replicas: { status: string; version: string | null }[] }[]
  lag: { name: string; kind: string; service: string; events: number | null; seconds: number | null }[]
  backingStores: { purpose: string; kind: string; status: string; services: string[] }[]
}
const system = async () => (await admin.get('/system')).as<System>(200)

test('the system shows every service, its lag and the backing stores, without their addresses', async () => {
  const { services, lag, backingStores } = await system()
  expect(services.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
    'catalog READY',
    'gateway READY',
    'identity READY',
    'media READY',
    'notifier READY',
  ])
  for (const { replicas } of services) expect(replicas[0]).toMatchObject({ version: expect.any(String) })
  const followers = lag.map(({ kind, name }) => `${kind} ${name}`)
  expect(followers).toEqual(
    expect.arrayContaining(['PROJECTOR catalog.projector', 'RELAY identity.relay', 'CONSUMER notifier']),
  )
  const purposes = backingStores.map(({ purpose, status }) => `${purpose} ${status}`)
  expect(purposes).toEqual(
    expect.arrayContaining(['EVENT_LOG AVAILABLE', 'READ_MODELS AVAILABLE', 'MESSAGE_BUS AVAILABLE']),
  )
  expect(JSON.stringify(backingStores)).not.toMatch(/:\/\/|\.db/)
  // It is unknown while a service is slow to answer.
  await eventually(async () => {
    for (const { events, seconds } of (await system()).lag)
      expect({ events, seconds }).toEqual({ events: expect.any(Number), seconds: expect.any(Number) })
  })
})

test('the signing keys are shown with their dates, and only their public parts', async () => {
  const keys = (await admin.get('/signingKeys')).as<
    { kid: string; purpose: string; status: string; publicKey: object; signsFrom: string }[]
  >(200)
  const published = await admin.get('/.well-known/jwks.json')
  const current = keys.filter(({ status }) => status === 'CURRENT')
  expect(current.map(({ purpose }) => purpose)).toEqual(['LOGIN', 'AUDIT'])
  expect(published.as<{ keys: { kid: string }[] }>(200).keys).toContainEqual(
    expect.objectContaining({ kid: current[0]?.kid, ...current[0]?.publicKey }),
  )
  expect(JSON.stringify(keys)).not.toMatch(/sealed|"d"/)
})
