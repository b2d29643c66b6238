import { describe, expect, test } from 'vitest'
import { anonymous, createUser, loggedIn, scopedTo, service, uuid } from '../src/gantry.ts'

/** What the documents ask for: method and path, with placeholders of any name, to scope. */
const REQUIRED: Record<string, string> = {
  'GET /apis': 'API_READ',
  'POST /apis': 'API_WRITE',
  'GET /apis/{}': 'API_READ',
  'PUT /apis/{}': 'API_WRITE',
  'DELETE /apis/{}': 'API_WRITE',
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
  'GET /webhooks': 'WEBHOOKS_READ',
  'POST /webhooks': 'WEBHOOKS_WRITE',
  'GET /webhooks/{}': 'WEBHOOKS_READ',
  'PUT /webhooks/{}': 'WEBHOOKS_WRITE',
  'DELETE /webhooks/{}': 'WEBHOOKS_WRITE',
  'GET /webhooks/eventTypes': 'WEBHOOKS_READ',
  'POST /webhooks/{}/rotateSecret': 'WEBHOOKS_WRITE',
  'POST /webhooks/{}/test': 'WEBHOOKS_WRITE',
  'GET /webhooks/{}/requests': 'WEBHOOKS_READ',
  'GET /webhooks/{}/requests/{}': 'WEBHOOKS_READ',
  'GET /webhooks/requests': 'WEBHOOKS_READ',
  'POST /webhooks/requests/{}/retry': 'WEBHOOKS_WRITE',
  'POST /webhooks/requests/{}/cancel': 'WEBHOOKS_WRITE',
  'POST /events': 'CONFIGURATION_WRITE',
  'GET /auditLog': 'AUDIT_LOG_READ',
}
const PUBLIC = [
  '/login',
  '/health/live',
  '/health/ready',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/.well-known/jwks.json',
]

const { operations } = service.contract
const nameless = (key: string) => key.replaceAll(/\{[^}]+\}/g, '{}')
const pathOf = (template: string) => template.replaceAll(/\{[^}]+\}/g, uuid)
const guarded = operations.filter(
  ({ template }) => !PUBLIC.some(path => template === path || template.startsWith('/docs')),
)

test('the document has every operation of the specification', () => {
  const documented = new Set(operations.map(({ key }) => nameless(key)))
  const missing = Object.keys(REQUIRED).filter(key => !documented.has(key))
  expect(missing).toEqual([])
  expect(documented).toContain('POST /login')
  expect(documented).toContain('POST /logout')
  expect(documented).toContain('GET /events')
})

describe('without credentials', () => {
  test.for(guarded)('$key is refused', async ({ method, template }) => {
    const answer = await anonymous.request(method, pathOf(template))
    answer.refused(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
  })
})

describe('without the scope', () => {
  const scoped = guarded.filter(({ key }) => nameless(key) in REQUIRED)
  const scopes = [...new Set(Object.values(REQUIRED))]

  test('an operation is refused with the scope that it needs, though every other is there', async () => {
    for (const missing of scopes) {
      const client = await scopedTo(...scopes.filter(scope => scope !== missing))
      const needing = scoped.filter(({ key }) => REQUIRED[nameless(key)] === missing)
      expect(needing).not.toEqual([])
      for (const { method, template } of needing) {
        const problem = (await client.request(method, pathOf(template))).refused(403)
        expect(`${problem.detail}`).toContain(missing)
      }
    }
  })

  test('but with it alone an operation is let through to what it does', async () => {
    for (const scope of scopes) {
      const client = await scopedTo(scope)
      for (const { key, method, template } of scoped.filter(({ key }) => REQUIRED[nameless(key)] === scope)) {
        const { status } = await client.request(method, pathOf(template))
        expect([401, 403], key).not.toContain(status)
      }
    }
  })

  test('the document names the scope of every operation', () => {
    const silent = scoped.filter(
      ({ key, definition }) => !JSON.stringify(definition).includes(REQUIRED[nameless(key)] ?? ''),
    )
    expect(silent.map(({ key }) => key)).toEqual([])
  })
})

test('a role without access is refused everything but logging out', async () => {
  const client = await loggedIn(await createUser({ role: 'NO_ACCESS' }))
  for (const { key, method, template } of guarded.filter(({ key }) => nameless(key) in REQUIRED)) {
    const { status } = await client.request(method, pathOf(template))
    expect(status, key).toBe(403)
  }
  ;(await client.post('/logout')).is(204)
})
