import { join } from 'node:path'
import { appendFrozenStreams } from '@gantry/event-sourcing/testing'
import { hostService } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { identityService } from './app.ts'
import { SETTINGS } from './testing/identity-host.ts'

const folder = join(import.meta.dirname, 'frozen')

/** The service with the frozen streams of a commit. Its clock stands at the day after they were written. */
async function hostFrozen(commit: string) {
  const host = await hostService(dependencies => identityService(dependencies, SETTINGS), {
    now: () => new Date('2026-11-23T00:00:00.000Z'),
    start: false,
  })
  onTestFinished(() => host.close())
  await appendFrozenStreams(host.dependencies.eventStore, folder, commit, ['user', 'username', 'signingkey'])
  return host
}

test.for([
  ['ada.l', 'its user holds the name', 409],
  ['wanted', 'its user never took the name', 201],
  ['ada', 'its user was renamed since', 201],
] as const)(
  'a reservation of %s by an old release: %s, so another user gets %i',
  async ([username, , status]) => {
    const { app } = await hostFrozen('efcfd61')
    const payload = { username, password: 'a long enough one' }
    const answer = await app.inject({ method: 'POST', url: '/users', payload })
    expect(answer.statusCode).toBe(status)
    if (status === 409) expect(answer.json().code).toBe('username-taken')
  },
)

test('a user of an older release logs in with their password; a key of that release signs the token', async () => {
  const { app, service } = await hostFrozen('efcfd61')
  await service.start()
  await vi.waitFor(() => expect(service.waitingFor()).toBeUndefined(), { timeout: 10_000 })
  const payload = { username: 'ada.l', password: 'another long one' }
  const answer = await app.inject({ method: 'POST', url: '/login', payload })
  expect(answer.statusCode).toBe(200)
  const token = String(answer.headers.authorization).replace('Bearer ', '')
  expect(await service.authenticate(token)).toMatchObject({ username: 'ada.l', kind: 'login' })
})
