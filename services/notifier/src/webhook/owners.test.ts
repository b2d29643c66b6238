import { type PublicEvent, subjects, type UserStanding } from '@gantry/contracts'
import { requestRebuild } from '@gantry/event-sourcing'
import { type Json, NoResponder } from '@gantry/messaging'
import { administrator } from '@gantry/service-kit/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openNotifier } from '../testing/notifier-host.ts'
import { openReceiver, type Receiver } from '../testing/receiver.ts'
import { knownUsers } from '../user/known-user.projection.ts'
import { webhooks } from './webhook.projection.ts'

const OWNER = administrator.userId
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const standing = (role: 'ADMIN' | 'USER' | 'NO_ACCESS', revision: number): UserStanding => ({
  user: { role, status: 'ACTIVE' },
  revision,
})
const GONE: UserStanding = { user: null, revision: 9 }

let receiver: Receiver
/** The response of identity; undefined while identity is unavailable. */
let answer: UserStanding | undefined
let asked: number
beforeEach(async () => {
  receiver = await openReceiver()
  answer = undefined
  asked = 0
})
afterEach(() => receiver.close())

const standingOf = (user: string) => {
  expect(user).toBe(OWNER)
  asked++
  if (!answer) throw new NoResponder(subjects.userStanding)
  return answer
}
const open = () => openNotifier({}, { standingOf })
type Host = Awaited<ReturnType<typeof open>>

const publish = async (host: Host, type: string, data: object, revision: number) => {
  const id = uuid(100 + revision)
  const event: PublicEvent = {
    id,
    type,
    source: 'identity',
    subject: OWNER,
    revision,
    time: '2099-11-21T10:00:00.000Z',
    data: data as Record<string, unknown>,
    actor: { id: null, name: 'story' },
    requestId: 'story',
  }
  const message = { id, subject: subjects.events('identity', type), data: event as unknown as Json }
  await host.dependencies.bus.publish([message])
}
const changed = (host: Host, { user, revision }: UserStanding) =>
  publish(host, 'USER_UPDATED', user ?? {}, revision)

const stored = async (host: Host, id: string) =>
  (await host.dependencies.readModels.collection(webhooks).get(id))?.doc
const known = async (host: Host) =>
  (await host.dependencies.readModels.collection(knownUsers).get(OWNER))?.doc.standing
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 15_000, interval: 20 })
const inactive = { active: false, disabledReason: 'owner-lacks-scope' }
/** Publishes an event and waits for its delivery: all earlier messages are handled then. */
const delivered = async (host: Host, n: number) => {
  const before = receiver.on('/a').length
  await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await eventually(() => expect(receiver.on('/a').length).toBe(before + 1))
}

test('a webhook stays active while its owner is unknown and identity is unavailable', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await host.restart()
  await eventually(() => expect(asked).toBeGreaterThan(0))
  await delivered(host, 1)
  expect(await known(host)).toBeUndefined()
  expect(await stored(host, id)).toMatchObject({ active: true, owner: OWNER })
  await host.update(await host.call('GET', `/webhooks/${id}`).then(({ body }) => body), { name: 'other' })
})

test('a webhook from before users were recorded stays active when its owner has the scopes', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  answer = standing('USER', 4)
  await host.restart()
  await eventually(async () =>
    expect(await known(host)).toEqual({ user: OWNER, status: 'ACTIVE', role: 'USER' }),
  )
  await delivered(host, 1)
  expect(await stored(host, id)).toMatchObject({ active: true })
})

test('a webhook from before users were recorded is disabled when its owner is deleted', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  answer = GONE
  await host.restart()
  await eventually(async () => expect(await stored(host, id)).toMatchObject(inactive))
})

test('webhooks are checked after an upgrade has rebuilt their documents', async () => {
  const host = await openNotifier({}, { standingOf, start: false })
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  const { readModels } = host.dependencies
  await readModels.drop(webhooks)
  await requestRebuild('notifier.projector', readModels, uuid(9))
  answer = GONE
  await host.service.start()
  await eventually(async () => expect(await stored(host, id)).toMatchObject(inactive))
})

test('a message with an outdated role does not disable a webhook', async () => {
  answer = standing('ADMIN', 5)
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await changed(host, standing('NO_ACCESS', 1))
  await changed(host, standing('NO_ACCESS', 3))
  await delivered(host, 1)
  expect(asked).toBeGreaterThan(0)
  expect(await known(host)).toMatchObject({ role: 'ADMIN' })
  expect(await stored(host, id)).toMatchObject({ active: true })
  await changed(host, standing('USER', 6))
  await delivered(host, 2)
  expect(await known(host)).toMatchObject({ role: 'USER' })
  expect(await stored(host, id)).toMatchObject({ active: true })
})

test('an owner whose role changed while identity was unavailable is checked again', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await changed(host, standing('NO_ACCESS', 1))
  await delivered(host, 1)
  expect(await stored(host, id)).toMatchObject({ active: true })
  answer = standing('NO_ACCESS', 1)
  await host.restart()
  await eventually(async () => expect(await stored(host, id)).toMatchObject(inactive))
})

test('a deleted owner disables the webhook without a request to identity', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await publish(host, 'USER_DELETED', standing('ADMIN', 0).user ?? {}, 2)
  await eventually(async () => expect(await stored(host, id)).toMatchObject(inactive))
  expect(await known(host)).toEqual({ user: OWNER, status: 'GONE' })
})

test('a webhook whose creator is already recorded as deleted is disabled', async () => {
  const host = await open()
  await publish(host, 'USER_DELETED', {}, 2)
  await eventually(async () => expect(await known(host)).toEqual({ user: OWNER, status: 'GONE' }))
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  expect(await stored(host, id)).toMatchObject(inactive)
})

test('users and webhooks are equal after a rebuild', async () => {
  answer = standing('NO_ACCESS', 3)
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await changed(host, standing('NO_ACCESS', 3))
  await eventually(async () => expect(await stored(host, id)).toMatchObject(inactive))
  const before = [await stored(host, id), await known(host)]
  const { readModels } = host.dependencies
  await Promise.all([readModels.drop(webhooks), readModels.drop(knownUsers)])
  expect([await stored(host, id), await known(host)]).toEqual([undefined, undefined])
  const rebuilt = await requestRebuild('notifier.projector', readModels, uuid(9))
  await eventually(async () => expect(await rebuilt()).toBe(true))
  expect([await stored(host, id), await known(host)]).toEqual(before)
})
