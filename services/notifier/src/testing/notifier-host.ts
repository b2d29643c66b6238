import { randomUUID } from 'node:crypto'
import {
  type DeliveryRecord,
  type NewWebhook,
  type PublicEvent,
  requests,
  type UserStanding,
} from '@gantry/contracts'
import { NO_STREAM, requestRebuild } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import type { Dependencies, Service } from '@gantry/service-runtime'
import { type Host, type HostOptions, hostService } from '@gantry/service-runtime/testing'
import type { Lease } from '@gantry/stores'
import { Registry } from 'prom-client'
import { expect, onTestFinished, vi } from 'vitest'
import type { z } from 'zod'
import { notifierService } from '../app.ts'
import { BREAKER, type BreakerRules } from '../dispatch/limiter.ts'
import type { Resolve } from '../http/host-resolver.ts'
import { notifierSettings } from '../settings.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const SETTINGS = {
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SCHEDULE: '100ms,200ms',
  WEBHOOK_TIMEOUT: '15s',
  MAX_WEBHOOKS_PER_OWNER: '0',
  // The service stops within a second although an attempt is running.
  SHUTDOWN_TIMEOUT: '2s',
}

export const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

const settingsOf = (settings: Partial<typeof SETTINGS> = {}) =>
  notifierSettings.parse({ ...SETTINGS, ...settings })

/** The fields of a delivery without its id. */
export const DELIVERY = {
  webhook: uuid(1),
  url: 'http://a/',
  eventId: uuid(2),
  eventType: 'API_CREATED',
  format: 'STANDARD',
  api: null,
} as const

interface NotifierHostOptions extends HostOptions {
  /** Wraps the dependencies of the service. */
  around?(dependencies: Dependencies): Dependencies
  breaker?: BreakerRules
  resolve?: Resolve
  /** Responds for identity. Default: every user is an active global administrator. */
  standingOf?(user: string): UserStanding
}

const GLOBAL_ADMIN: UserStanding = { user: { role: 'GLOBAL_ADMIN', status: 'ACTIVE' }, revision: 0 }

const DEATH_MS = 60_000

/** The same dependencies, which add every lease that they acquire to `held`. */
const recordingLeases = (dependencies: Dependencies, held: Map<string, Lease>): Dependencies => {
  const { readModels } = dependencies
  const acquire: typeof readModels.leases.acquire = async (...asked) => {
    const lease = await readModels.leases.acquire(...asked)
    if (lease) held.set(lease.name, lease)
    return lease
  }
  return { ...dependencies, readModels: { ...readModels, leases: { ...readModels.leases, acquire } } }
}

export const NEVER_OPEN: BreakerRules = { ...BREAKER, failures: Number.POSITIVE_INFINITY }

/** Runs the notifier on embedded stores, without jitter, until the end of the test. Adds functions that many tests need. */
export async function openNotifier(
  settings: Partial<typeof SETTINGS> = {},
  {
    around = it => it,
    breaker = BREAKER,
    resolve,
    standingOf = () => GLOBAL_ADMIN,
    now = () => new Date(),
    start = true,
  }: NotifierHostOptions = {},
) {
  let aheadMs = 0
  const dead: Service[] = []
  const held = new Map<string, Lease>()
  const make = (dependencies: Dependencies) => {
    aheadMs = dead.length * DEATH_MS
    dependencies.process.peers.answer(requests.userStanding, async ({ user }) => standingOf(user))
    const given = around(recordingLeases(dependencies, held))
    const externals = { random: () => 0.5, breaker, ...(resolve && { resolve }) }
    const service = notifierService(given, settingsOf(settings), externals)
    const stop = async () => {
      if (!dead.includes(service)) await service.stop()
    }
    return { ...service, stop, died: () => dead.push(service) }
  }
  const host = await hostService(make, { now: () => new Date(now().getTime() + aheadMs), start })
  onTestFinished(async () => {
    await host.close()
    await Promise.allSettled(dead.map(service => service.stop()))
  })
  const ready = () => vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined())
  if (start) await ready()
  /**
   * Simulates the death of the process: closes the stores under the running service and starts another one, a minute later
   * by the clock of the service, so that the attempts of the dead one count as lost.
   */
  const kill = async () => {
    host.service.died()
    // The leases of the dead process expire at once.
    for (const lease of held.values()) await host.dependencies.readModels.leases.release(lease)
    await host.restart()
    await ready()
  }
  return Object.defineProperties(
    { ...storiesOf(host), kill },
    Object.getOwnPropertyDescriptors(host),
  ) as typeof host & ReturnType<typeof storiesOf> & { kill(): Promise<void> }
}

export type Notifier = Awaited<ReturnType<typeof openNotifier>>

/** Starts another replica on the same stores; stopped at the end of the test. */
export async function openReplica(
  dependencies: Dependencies,
  settings: Partial<typeof SETTINGS> = {},
  breaker = BREAKER,
): Promise<Service> {
  const process = { ...dependencies.process, holder: 'another', metrics: new Registry() }
  const own = { ...dependencies, process }
  const service = notifierService(own, settingsOf(settings), { random: () => 0.5, breaker })
  await service.start()
  onTestFinished(() => service.stop())
  return service
}

function storiesOf(host: Host<Service>) {
  const call = async (
    method: Method,
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) => {
    const answer = await host.app.inject({ method, url, headers, ...(payload && { payload }) })
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body ? answer.json() : undefined,
    }
  }

  const subscribe = async (url: string, eventTypes: string[], more: object = {}) => {
    const fields = { displayName: 'Hook', url, active: true, eventTypes, ...more }
    const { status, body } = await call('POST', '/webhooks', fields)
    expect(status).toBe(201)
    return body as z.infer<typeof NewWebhook> & { secret: string }
  }

  const update = async (webhook: { id: string; url: string; eventTypes: string[] }, changes: object) => {
    const { url, eventTypes } = webhook
    const body = { displayName: 'Hook', url, events: eventTypes, ...changes }
    expect((await call('PUT', `/webhooks/${webhook.id}`, body)).status).toBe(200)
  }

  /** Publishes an event as another service does. */
  const happen = async (
    event: Partial<PublicEvent> & { id: string; type: string },
    messageId = event.id,
    headers: Record<string, string> = {},
  ) => {
    const published: PublicEvent = {
      source: 'catalog',
      subject: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
      revision: 0,
      time: '2099-11-21T10:00:00.000Z',
      data: {},
      actor: { id: null, name: 'story' },
      requestId: 'story',
      ...event,
    }
    const subject = `events.catalog.${event.type}`
    await host.dependencies.bus.publish([{ id: messageId, subject, data: published as never, headers }])
  }

  const history = async (query = 'size=100') =>
    (await call('GET', `/webhooks/requests?${query}`)).body.content as DeliveryRecord[]

  /** Waits until there is exactly one delivery and it has the status. @returns its record */
  const only = (status: string) =>
    vi.waitFor(async () => {
      const records = await history()
      expect(records.map(each => each.status)).toEqual([status])
      return records[0] as DeliveryRecord
    })

  /** Waits until exactly `count` deliveries have the status. @returns their records, 100 at most */
  const having = (status: string, count: number) =>
    vi.waitFor(async () => {
      const { body } = await call('GET', `/webhooks/requests?size=100&status=${status}`)
      expect(body.totalElements).toBe(count)
      return body.content as DeliveryRecord[]
    })

  /** Rebuilds the read models and waits for the end of the rebuild. */
  const rebuild = async () => {
    const rebuilt = await requestRebuild('notifier.projector', host.dependencies.readModels, randomUUID())
    await vi.waitFor(async () => expect(await rebuilt()).toBe(true))
  }

  /** The types of the events of a stream. */
  const typesIn = async (stream: string) =>
    (await host.dependencies.eventStore.readStream(stream)).map(({ type }) => type)

  /** Appends an event as another process does. */
  const append = async (stream: string, type: string, data: object | null) => {
    const { eventStore } = host.dependencies
    const last = (await eventStore.readStream(stream)).at(-1)?.revision ?? NO_STREAM
    const metadata = { actor: { id: null, name: 'story' }, requestId: 'story', at: storyMetadata.now }
    await eventStore.append(stream, [{ id: randomUUID(), type, data: data as object, metadata }], last)
  }

  return { call, subscribe, update, happen, history, only, having, rebuild, typesIn, append }
}
