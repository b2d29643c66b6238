import { type PublicEvent, requests, subjects, type UserStanding } from '@gantry/contracts'
import { requestRebuild } from '@gantry/event-sourcing'
import type { Json } from '@gantry/messaging'
import { Unanswered } from '@gantry/service-runtime'
import { administrator } from '@gantry/service-runtime/testing'
import { beforeEach, expect, test, vi } from 'vitest'
import { type Notifier, openNotifier, uuid } from '../testing/notifier-host.ts'
import { openReceiver, type Receiver } from '../testing/receiver.ts'
import { knownUsers } from '../user/known-users.ts'
import { webhooks } from './webhook.projection.ts'

const OWNER = administrator.userId
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

const standingOf = (user: string) => {
  expect(user).toBe(OWNER)
  asked++
  if (!answer) throw new Unanswered(requests.userStanding, 'gone', false)
  return answer
}
const open = () => openNotifier({}, { standingOf })

const publish = async (host: Notifier, type: string, data: object, revision: number) => {
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
const changed = (host: Notifier, { user, revision }: UserStanding) =>
  publish(host, 'USER_UPDATED', user ?? {}, revision)

const stored = async (host: Notifier, id: string) =>
  (await host.dependencies.readModels.collection(webhooks).get(id))?.doc
const known = async (host: Notifier) =>
  (await host.dependencies.readModels.collection(knownUsers).get(OWNER))?.doc.standing
const isDisabled = (host: Notifier, id: string) =>
  vi.waitFor(async () =>
    expect(await stored(host, id)).toMatchObject({ active: false, disabledReason: 'owner-lacks-scope' }),
  )
/** Publishes an event and waits for its delivery: all earlier messages are handled then. */
const delivered = async (host: Notifier, n: number) => {
  const before = receiver.on('/a').length
  await host.happen({ id: uuid(n), type: 'API_CREATED' })
  await receiver.arrivals('/a', before + 1)
}

test('a webhook stays active while its owner is unknown and identity is unavailable, and when its owner has the scopes', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await host.restart()
  await vi.waitFor(() => expect(asked).toBeGreaterThan(0))
  await delivered(host, 1)
  expect(await known(host)).toBeUndefined()
  expect(await stored(host, id)).toMatchObject({ active: true, owner: OWNER })
  await host.update((await host.call('GET', `/webhooks/${id}`)).body, { name: 'other' })

  answer = standing('USER', 4)
  await host.restart()
  await vi.waitFor(async () =>
    expect(await known(host)).toEqual({ user: OWNER, status: 'ACTIVE', role: 'USER' }),
  )
  await delivered(host, 2)
  expect(await stored(host, id)).toMatchObject({ active: true })
})

test('the owners of all webhooks are checked after their documents were rebuilt', async () => {
  const host = await openNotifier({}, { standingOf, start: false })
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  const { readModels } = host.dependencies
  await readModels.drop(webhooks)
  await requestRebuild('notifier.projector', readModels, uuid(9))
  answer = GONE
  await host.service.start()
  await isDisabled(host, id)
})

test('an owner whose role changed while identity was unavailable is checked again', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await changed(host, standing('NO_ACCESS', 1))
  await delivered(host, 1)
  expect(await stored(host, id)).toMatchObject({ active: true })
  answer = standing('NO_ACCESS', 1)
  await host.restart()
  await isDisabled(host, id)
})

test('a deleted owner disables their webhooks without a request to identity, also one that is created later', async () => {
  const host = await open()
  const { id } = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  await publish(host, 'USER_DELETED', {}, 2)
  await isDisabled(host, id)
  expect(await known(host)).toEqual({ user: OWNER, status: 'GONE' })
  const later = await host.subscribe(receiver.url('/a'), ['API_CREATED'])
  expect(await stored(host, later.id)).toMatchObject({ active: false })
})
