import { EVENT_SCOPES, EVENT_TYPES, type EventType, type EventTypeRecord } from '@gantry/contracts'
import { z } from 'zod'

const API = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const TIMESTAMP = '2026-11-21T09:30:00.000Z'
const api = {
  id: API,
  name: 'payments',
  displayName: 'Payments',
  description: 'Card and account payments',
  url: '/payments',
  status: 'ACTIVE',
  tags: ['finance', 'public'],
  owner: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
  platformType: 'ENVOY',
  gitUrl: null,
  gitCredential: null,
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  hasImage: false,
  deploymentStatus: 'CREATED',
}
const version = {
  id: '2f0a8a57-3c0d-4e42-a8f7-0f3f5a3b9b01',
  name: '1.2.0',
  displayName: 'Spring release',
  description: null,
  status: 'ACTIVE',
  api: API,
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
}
const image = { api: API, contentType: 'image/png', size: 68, width: 1, height: 1, sha256: 'a1'.repeat(32) }
const deployment = {
  environment: 'c0ffee00-1f7a-4d8e-9a35-0d8a3d3c7b10',
  job: '0b7a4b0e-2f57-4f0a-9b5b-6c1f5b1f9d11',
}
const product = { product: '8d3e1c52-77a5-4d3e-b1a6-4f0d6c2b9e01', api: API }

const webhook = {
  id: '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d',
  name: 'deployments',
  displayName: 'Deployments',
  url: 'https://example.com/hook',
  active: true,
  eventTypes: ['API_DEPLOYED'],
  ordered: false,
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  disabledReason: null,
  owner: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
}

/** Examples of `data` for developers of receivers. */
const DATA: Readonly<Record<EventType, Record<string, unknown>>> = {
  API_CREATED: api,
  API_UPDATED: { ...api, displayName: 'Payments and refunds' },
  API_DELETED: api,
  API_DEPLOYED: { ...deployment, api: { ...api, deploymentStatus: 'DEPLOYED' } },
  API_UNDEPLOYED: { ...deployment, api: { ...api, deploymentStatus: 'UNDEPLOYED' } },
  API_DEPLOYMENT_FAILED: {
    ...deployment,
    api: { ...api, deploymentStatus: 'DEPLOYMENT_FAILED' },
    type: 'DEPLOY',
    message: 'no room on the gateway',
  },
  API_VERSION_CREATED: version,
  API_VERSION_UPDATED: { ...version, status: 'DEPRECATED' },
  API_VERSION_DELETED: version,
  API_IMAGE_UPDATED: image,
  API_IMAGE_DELETED: image,
  WEBHOOK_FAILING: { ...webhook, failingSince: '2026-11-20T09:30:00.000Z', failedDeliveries: 20 },
  WEBHOOK_DISABLED: { ...webhook, active: false, disabledReason: 'the endpoint answered 410 Gone' },
  SUBSCRIPTION_CREATED: { application: 'shop', plan: 'gold' },
  SUBSCRIPTION_DELETED: { application: 'shop', plan: 'gold' },
  APPROVAL_REQUEST_CREATED: { request: 'r-17', about: 'a subscription to payments' },
  APPROVAL_REQUEST_DECIDED: { request: 'r-17', decision: 'granted' },
  CONFIGURATION_CHANGED: { setting: 'retention', value: '30d' },
  PRODUCT_API_ADDED: product,
  PRODUCT_API_REMOVED: product,
  TEST: { webhook: '7a1d2c3b-0e4f-4a5b-8c6d-9e0f1a2b3c4d', message: 'A test of this webhook' },
}

const payloadOf = (type: EventType) =>
  z.object({
    id: z.uuid().meta({ description: 'Id of the event' }),
    type: z.literal(type),
    timestamp: z.iso.datetime().meta({ description: 'When it happened', format: 'date-time' }),
    data: EVENT_TYPES[type].data,
  })

/** The catalog of event types, each with a JSON Schema and an example of the payload. */
export const eventTypes: z.infer<typeof EventTypeRecord>[] = (Object.keys(EVENT_TYPES) as EventType[]).map(
  name => ({
    name,
    description: EVENT_TYPES[name].description,
    scope: EVENT_SCOPES[name],
    schema: z.toJSONSchema(payloadOf(name), { io: 'input', reused: 'inline', override: readable }),
    example: {
      id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
      type: name,
      timestamp: TIMESTAMP,
      data: DATA[name],
    },
  }),
)

/** Removes keywords that are meant for the OpenAPI generator, and patterns that a format already implies. */
function readable({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  delete jsonSchema.override
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
}
