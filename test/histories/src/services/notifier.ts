import { requests, type UserStanding } from '@gantry/contracts'
import { notifierService, notifierSettings } from '@gantry/notifier'
import { administrator } from '@gantry/service-runtime/testing'
import type { Asked, Request, ServiceUnderTest } from '../replica.ts'
import { foreignFact, idNamed } from './foreign-fact.ts'

/** A forbidden address: attempts fail without a socket, which the order of calls would not control. */
const URL = 'http://127.0.0.1/'
const settings = notifierSettings.parse({
  WEBHOOK_RETRY_SCHEDULE: '1s,2s',
  WEBHOOK_TIMEOUT: '2s',
  MAX_WEBHOOKS_PER_OWNER: '0',
})

const ofWebhook = (make: (url: string, asked: Asked) => Request) => (asked: Asked) => {
  const id = asked.id('webhook')
  return id === undefined ? undefined : make(`/webhooks/${id}`, asked)
}
const ofDelivery = (make: (url: string, asked: Asked) => Request) => (asked: Asked) => {
  const id = asked.id('delivery')
  return id === undefined ? undefined : make(`/webhooks/requests/${id}`, asked)
}

const happened = ({ target, name, variant }: Asked) =>
  foreignFact('catalog', variant % 2 ? 'API_UPDATED' : 'API_CREATED', {
    subject: idNamed(`api ${target}`),
    revision: 6 * name + variant,
    data: { name: `api-${target}` },
  })

/** Owns all webhooks. Identity says that the role has every scope: only a deletion makes them inactive. */
const owner = administrator.userId
const roles = ['GLOBAL_ADMIN', 'NO_ACCESS', 'USER'] as const

const ownerChanged = ({ name, variant }: Asked) =>
  foreignFact('identity', variant === 0 ? 'USER_DELETED' : 'USER_UPDATED', {
    subject: owner,
    revision: 6 * name + variant,
    data: { role: roles[variant % roles.length], status: 'ACTIVE' },
  })

export const notifier: ServiceUnderTest = {
  name: 'notifier',
  make: dependencies => notifierService(dependencies, settings, { random: () => 0.5 }),
  async prepare({ peers }) {
    const standing: UserStanding = { user: { role: 'GLOBAL_ADMIN', status: 'ACTIVE' }, revision: 0 }
    peers.answer(requests.userStanding, async () => standing)
  },
  first: ['create', 'happen'],
  often: ['happen', 'happen', 'update'],
  requests: {
    create: ({ name, variant }) => ({
      method: 'POST',
      url: '/webhooks',
      payload: {
        displayName: `hook ${name}`,
        url: URL,
        active: variant !== 0,
        ordered: variant % 2 === 0,
        format: variant === 1 ? 'CLOUDEVENTS_STRUCTURED' : 'STANDARD',
        eventTypes: ['API_CREATED', 'API_UPDATED'],
      },
    }),
    update: ofWebhook((url, { name, variant }) => ({
      method: 'PUT',
      url,
      payload: {
        displayName: `hook ${name}`,
        url: URL,
        active: variant > 1,
        ...(variant === 2 && { format: 'CLOUDEVENTS_BATCHED' }),
        eventTypes: ['API_CREATED', 'API_UPDATED'],
      },
      readAt: url,
    })),
    delete: ofWebhook((url, { variant }) =>
      variant === 0
        ? { method: 'DELETE', url, readAt: url }
        : { method: 'POST', url: `${url}/rotateSecret`, readAt: url },
    ),
    ownerChanged,
    test: ofWebhook(url => ({ method: 'POST', url: `${url}/test` })),
    happen: happened,
    retry: ofDelivery((url, { variant }) => ({
      method: 'POST',
      url: `${url}/${variant < 2 ? 'cancel' : 'retry'}`,
    })),
    recover: ofWebhook(url => ({
      method: 'POST',
      url: `${url}/recover`,
      payload: { from: new Date(Date.now() - 60_000).toISOString(), to: new Date().toISOString() },
      readAt: null,
    })),
  },
}
