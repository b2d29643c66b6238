import { OPERATIONS } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { service } from '../src/gantry.ts'

/** The operations that require each scope, by method and path with unnamed placeholders. */
const OPERATIONS_OF = {
  public: `
    POST /login, GET /events/schemas, GET /events/schemas/{}/{}`,
  authenticated: `
    POST /logout, GET /session, PUT /session/password`,
  API_READ: `
    GET /apis, GET /apis/facets, GET /apis/{}, GET /apis/{}/history, GET /apis/{}/versions/{}/history,
    GET /apis/{}/image, GET /apis/{}/versions, GET /apis/{}/versions/{},
    GET /apis/{}/versions/{}/documents, GET /apis/{}/versions/{}/documents/{},
    GET /apis/{}/versions/{}/documents/{}/diff, GET /apis/{}/versions/{}/documents/{}/findings,
    GET /apis/{}/versions/{}/operations, GET /operations, GET /.well-known/api-catalog`,
  ENVIRONMENT_READ: `
    GET /environments, GET /environments/{}`,
  ENVIRONMENT_WRITE: `
    PUT /environments/{}`,
  JOBS_READ: `
    GET /jobs, GET /jobs/{}, GET /jobs/{}/results`,
  RULE_SETS_READ: `
    GET /ruleSets, GET /ruleSets/{}, GET /ruleSets/{}/rules`,
  RULE_SETS_WRITE: `
    POST /ruleSets, POST /ruleSets/preview, PUT /ruleSets/{}, DELETE /ruleSets/{}`,
  API_WRITE: `
    POST /apis, POST /apis/bulk, POST /apis/import, POST /jobs/{}/cancel, PUT /apis/{}, DELETE /apis/{}, POST /apis/{}/restore, PUT /apis/{}/image,
    DELETE /apis/{}/image, POST /apis/{}/versions, PUT /apis/{}/versions/{}, DELETE /apis/{}/versions/{},
    PUT /apis/{}/versions/{}/documents/{}, DELETE /apis/{}/versions/{}/documents/{},
    PUT /environments/{}/apis/{}, DELETE /environments/{}/apis/{}, POST /environments/{}/apis/{}/cancel`,
  WEBHOOKS_READ: `
    GET /webhooks/{}/history, GET /webhooks, GET /webhooks/{}, GET /webhooks/eventTypes,
    GET /webhooks/{}/recoveries, GET /webhooks/{}/recoveries/{}, GET /webhooks/{}/requests,
    GET /webhooks/{}/requests/{}, GET /webhooks/requests`,
  ACCESS_TOKEN_MANAGE: `
    POST /accessTokens, GET /accessTokens, GET /accessTokens/{}, DELETE /accessTokens/{}`,
  USER_READ: `
    GET /users, GET /users/{}, GET /users/{}/accessTokens, GET /users/{}/accessTokens/{}`,
  USER_WRITE: `
    POST /users, PUT /users/{}, DELETE /users/{}, POST /users/{}/unlock, POST /users/{}/erase,
    DELETE /users/{}/accessTokens, DELETE /users/{}/accessTokens/{}`,
  WEBHOOKS_WRITE: `
    POST /webhooks, PUT /webhooks/{}, DELETE /webhooks/{}, POST /webhooks/{}/rotateSecret,
    POST /webhooks/{}/test, POST /webhooks/{}/recover, POST /webhooks/{}/recoveries/{}/cancel,
    POST /webhooks/requests/{}/retry, POST /webhooks/requests/{}/cancel`,
  AUDIT_LOG_READ: `
    GET /events, GET /auditLog, GET /auditLog/proofs, GET /auditLog/export`,
  CONFIGURATION_WRITE: `
    POST /events, POST /readModels/{}/rebuild, POST /readModels/{}/cancel`,
  CONFIGURATION_READ: `
    GET /system, GET /signingKeys, GET /readModels`,
}
const REQUIRED = Object.fromEntries(
  Object.entries(OPERATIONS_OF).flatMap(([scope, operations]) =>
    operations.split(',').map(operation => [operation.trim(), scope]),
  ),
)
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
