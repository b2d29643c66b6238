import {
  type DeliveryRecord,
  type NewWebhook,
  type PublicEvent,
  subjects,
  type UserStanding,
} from '@gantry/contracts'
import type { Json } from '@gantry/messaging'
import type { Dependencies, Service } from '@gantry/service-kit'
import { type Host, type HostOptions, hostService } from '@gantry/service-kit/testing'
import { Registry } from 'prom-client'
import { expect, onTestFinished, vi } from 'vitest'
import type { z } from 'zod'
import { notifierService } from '../app.ts'
import { BREAKER, type BreakerRules } from '../dispatch/breaker.ts'
import { notifierSettings } from '../settings.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const SETTINGS = {
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SCHEDULE: '100ms,200ms',
  WEBHOOK_TIMEOUT: '15s',
}

const settingsOf = (settings: Partial<typeof SETTINGS> = {}) =>
  notifierSettings.parse({ ...SETTINGS, ...settings })

/** The fields of a delivery without its id. */
export const DELIVERY = {
  webhook: '00000000-0000-4000-8000-000000000001',
  url: 'http://a/',
  eventId: '00000000-0000-4000-8000-000000000002',
  eventType: 'API_CREATED',
  body: '{}',
}

interface NotifierHostOptions extends HostOptions {
  /** Wraps the dependencies of the service. */
  around?(dependencies: Dependencies): Dependencies
  breaker?: BreakerRules
  /** Responds for identity. Default: every user is an active global administrator. */
  standingOf?(user: string): UserStanding
}

const GLOBAL_ADMIN: UserStanding = { user: { role: 'GLOBAL_ADMIN', status: 'ACTIVE' }, revision: 0 }

const withIdentity = (
  dependencies: Dependencies,
  standingOf: (user: string) => UserStanding,
): Dependencies => ({
  ...dependencies,
  bus: {
    ...dependencies.bus,
    async request(subject, data, options) {
      if (subject !== subjects.userStanding) return dependencies.bus.request(subject, data, options)
      return standingOf((data as { user: string }).user) as unknown as Json
    },
  },
})

export const NEVER_OPEN: BreakerRules = { ...BREAKER, failures: Number.POSITIVE_INFINITY }

/** Starts the notifier on embedded stores, without jitter, and adds functions that many tests need. */
export async function hostNotifier(
  settings: Partial<typeof SETTINGS> = {},
  {
    around = it => it,
    breaker = BREAKER,
    standingOf = () => GLOBAL_ADMIN,
    ...options
  }: NotifierHostOptions = {},
) {
  let dead = false
  const host = await hostService(dependencies => {
    const service = notifierService(around(withIdentity(dependencies, standingOf)), settingsOf(settings), {
      random: () => 0.5,
      breaker,
    })
    const stop = async () => {
      if (!dead) await service.stop()
    }
    return { ...service, stop }
  }, options)
  const ready = () => vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined(), { timeout: 15_000 })
  if (options.start !== false) await ready()
  /** Simulates the death of the process: closes the stores under the running service and starts another one. */
  const kill = async () => {
    dead = true
    await host.restart()
    dead = false
    await ready()
  }
  return Object.defineProperties(
    { ...storiesOf(host), kill },
    Object.getOwnPropertyDescriptors(host),
  ) as typeof host & ReturnType<typeof storiesOf> & { kill(): Promise<void> }
}

/** Like `hostNotifier`; closed at the end of the test. */
export async function openNotifier(...options: Parameters<typeof hostNotifier>) {
  const host = await hostNotifier(...options)
  onTestFinished(() => host.close())
  return host
}

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
  const happen = async (event: Partial<PublicEvent> & { id: string; type: string }, messageId = event.id) => {
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
    await host.dependencies.bus.publish([{ id: messageId, subject, data: published as never }])
  }

  const history = async (query = 'size=100') =>
    (await call('GET', `/webhooks/requests?${query}`)).body.content as DeliveryRecord[]

  /** Waits until there is exactly one delivery and it has the status. @returns its record */
  const only = async (status: string) => {
    let record: DeliveryRecord | undefined
    await vi.waitFor(
      async () => {
        const records = await history()
        expect(records.map(each => each.status)).toEqual([status])
        record = records[0]
      },
      { timeout: 15_000, interval: 10 },
    )
    return record as DeliveryRecord
  }

  return { call, subscribe, update, happen, history, only }
}
