import { OPERATIONS } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { service } from '../src/gantry.ts'

/** Scope that each operation requires, by method and path with unnamed placeholders. */
const REQUIRED: Record<string, string> = {
  'POST /login': 'public',
  'POST /logout': 'authenticated',
  'GET /session': 'authenticated',
  'GET /apis': 'API_READ',
  'GET /apis/facets': 'API_READ',
  'POST /apis': 'API_WRITE',
  'GET /apis/{}': 'API_READ',
  'PUT /apis/{}': 'API_WRITE',
  'DELETE /apis/{}': 'API_WRITE',
  'POST /apis/{}/restore': 'API_WRITE',
  'GET /apis/{}/history': 'API_READ',
  'GET /apis/{}/versions/{}/history': 'API_READ',
  'GET /webhooks/{}/history': 'WEBHOOKS_READ',
  'GET /apis/{}/image': 'API_READ',
  'PUT /apis/{}/image': 'API_WRITE',
  'DELETE /apis/{}/image': 'API_WRITE',
  'GET /apis/{}/versions': 'API_READ',
  'POST /apis/{}/versions': 'API_WRITE',
  'GET /apis/{}/versions/{}': 'API_READ',
  'PUT /apis/{}/versions/{}': 'API_WRITE',
  'DELETE /apis/{}/versions/{}': 'API_WRITE',
  'PUT /environments/{}/apis/{}': 'API_WRITE',
  'DELETE /environments/{}/apis/{}': 'API_WRITE',
  'POST /environments/{}/apis/{}/cancel': 'API_WRITE',
  'POST /accessTokens': 'ACCESS_TOKEN_MANAGE',
  'GET /accessTokens': 'ACCESS_TOKEN_MANAGE',
  'GET /accessTokens/{}': 'ACCESS_TOKEN_MANAGE',
  'DELETE /accessTokens/{}': 'ACCESS_TOKEN_MANAGE',
  'GET /users': 'USER_READ',
  'POST /users': 'USER_WRITE',
  'GET /users/{}': 'USER_READ',
  'PUT /users/{}': 'USER_WRITE',
  'DELETE /users/{}': 'USER_WRITE',
  'POST /users/{}/unlock': 'USER_WRITE',
  'POST /users/{}/erase': 'USER_WRITE',
  'GET /webhooks': 'WEBHOOKS_READ',
  'POST /webhooks': 'WEBHOOKS_WRITE',
  'GET /webhooks/{}': 'WEBHOOKS_READ',
  'PUT /webhooks/{}': 'WEBHOOKS_WRITE',
  'DELETE /webhooks/{}': 'WEBHOOKS_WRITE',
  'GET /webhooks/eventTypes': 'WEBHOOKS_READ',
  'POST /webhooks/{}/rotateSecret': 'WEBHOOKS_WRITE',
  'POST /webhooks/{}/test': 'WEBHOOKS_WRITE',
  'POST /webhooks/{}/recover': 'WEBHOOKS_WRITE',
  'GET /webhooks/{}/recoveries': 'WEBHOOKS_READ',
  'GET /webhooks/{}/recoveries/{}': 'WEBHOOKS_READ',
  'POST /webhooks/{}/recoveries/{}/cancel': 'WEBHOOKS_WRITE',
  'GET /webhooks/{}/requests': 'WEBHOOKS_READ',
  'GET /webhooks/{}/requests/{}': 'WEBHOOKS_READ',
  'GET /webhooks/requests': 'WEBHOOKS_READ',
  'POST /webhooks/requests/{}/retry': 'WEBHOOKS_WRITE',
  'POST /webhooks/requests/{}/cancel': 'WEBHOOKS_WRITE',
  'GET /events': 'AUDIT_LOG_READ',
  'POST /events': 'CONFIGURATION_WRITE',
  'GET /events/schemas': 'public',
  'GET /events/schemas/{}/{}': 'public',
  'GET /auditLog': 'AUDIT_LOG_READ',
  'GET /auditLog/proofs': 'AUDIT_LOG_READ',
  'GET /auditLog/export': 'AUDIT_LOG_READ',
  'GET /system': 'CONFIGURATION_READ',
  'GET /signingKeys': 'CONFIGURATION_READ',
  'GET /readModels': 'CONFIGURATION_READ',
  'POST /readModels/{}/rebuild': 'CONFIGURATION_WRITE',
  'POST /readModels/{}/cancel': 'CONFIGURATION_WRITE',
}
const { operations } = service.contract
const nameless = (key: string) => key.replaceAll(/\{[^}]+\}/g, '{}')

test('the OpenAPI document has every operation', () => {
  const documented = new Set(operations.map(({ key }) => nameless(key)))
  const missing = Object.keys(REQUIRED).filter(key => !documented.has(key))
  expect(missing).toEqual([])
})

test('every operation requires its scope, and no operation is without one', () => {
  const asked = Object.fromEntries(
    OPERATIONS.map(({ method, path, scope }) => [nameless(`${method} ${path}`), scope]),
  )
  expect(asked).toEqual(REQUIRED)
})

test('the OpenAPI document names the scope of every operation', () => {
  const silent = operations.filter(({ key, definition }) => {
    const scope = REQUIRED[nameless(key)]
    return scope !== undefined && !JSON.stringify(definition).includes(scope)
  })
  expect(silent.map(({ key }) => key)).toEqual([])
})
