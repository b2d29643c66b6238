import { expect, test } from 'vitest'
import { readApiPageSearch } from './apis/page/search.ts'
import { listOf, readApiSearch } from './apis/search.ts'
import { readAuditSearch, readProofsSearch } from './audit/search.ts'
import { readEventsSearch } from './events/search.ts'
import { readLoginSearch } from './login/search.ts'
import { readTokenSearch, readUserSearch } from './people/search.ts'
import { readSystemSearch } from './system/search.ts'
import { readDeliverySearch, readOneDeliverySearch } from './webhooks/deliveries/search.ts'
import { readNewWebhookSearch, readWebhookSearch, readWebhooksSearch } from './webhooks/search.ts'

type Search = Record<string, unknown>

const ID = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
const TIME = { from: '2026-11-20T10:00+01:00', to: '2026-11-21' }
const UTC = { from: '2026-11-20T09:00:00.000Z', to: '2026-11-21T00:00:00.000Z' }

test.for<[name: string, read: (search: Search) => object, used: Search, known: object, unusable: Search]>([
  [
    'the catalogue',
    readApiSearch,
    { search: 404, status: 'ACTIVE', deployed: true, tags: ['a', 'a', 'b'], sort: 'name,desc' },
    { search: '404', status: 'ACTIVE', deployed: true, tags: ['a', 'b'], sort: 'name,desc' },
    { search: '', status: 'UNKNOWN', deployed: 'yes', tags: [{}], sort: 'size,asc', other: 1 },
  ],
  [
    'an API',
    readApiPageSearch,
    { tab: 'history', at: TIME.from },
    { tab: 'history', at: UTC.from },
    { tab: 'none', at: 'soon' },
  ],
  [
    'the documents of an API',
    readApiPageSearch,
    { tab: 'documentation', version: ID, document: 404, view: 'operations', deprecated: true, page: 2 },
    { tab: 'documentation', version: ID, document: '404', view: 'operations', deprecated: true, page: 2 },
    { view: 'shoes', version: {}, q: [], deprecated: 'yes', page: 0.5 },
  ],
  [
    'the audit log',
    readAuditSearch,
    { ...TIME, text: 2026, user: 'admin', sort: 'action,asc', entry: ID },
    { ...UTC, text: '2026', user: 'admin', sort: 'action,asc', entry: ID },
    { sort: 'toString', from: 'soon', to: 'later', user: '', resource: ['a'] },
  ],
  ['the proofs', readProofsSearch, { page: 2.5 }, { page: 2 }, { page: -1 }],
  [
    'the feed',
    readEventsSearch,
    { ...TIME, type: 'API_CREATED,TEST', api: ID, since: 'all', order: 'oldest' },
    { ...UTC, type: ['API_CREATED', 'TEST'], api: ID, since: 'all', order: 'oldest' },
    { since: 'yesterday', from: 'soon', type: 5, api: '', order: 'none' },
  ],
  [
    'the webhooks',
    readWebhooksSearch,
    { search: 'a', state: 'failing', sort: 'p95', descending: true, page: 3 },
    { search: 'a', state: 'failing', sort: 'p95', descending: true, page: 3 },
    { search: 5, state: 'lost', sort: 'shoes', descending: 'yes', page: 1 },
  ],
  ['a webhook', readWebhookSearch, { tab: 'history' }, { tab: 'history' }, { tab: 'shoes' }],
  [
    'a new webhook',
    readNewWebhookSearch,
    { api: ID, step: 'endpoint' },
    { api: ID, step: 'endpoint' },
    { api: '', step: 'secret' },
  ],
  [
    'the deliveries',
    readDeliverySearch,
    { ...TIME, status: 'GIVE_UP', eventType: 'TEST', eventId: ID, webhook: ID, apiName: 'a', page: 2 },
    { ...UTC, status: 'GIVE_UP', eventType: 'TEST', eventId: ID, webhook: ID, apiName: 'a', page: 2 },
    { status: 'LATE', eventId: 'half an id', api: 5, apiName: '', webhook: 'a', from: 'soon', page: 0 },
  ],
  ['a delivery', readOneDeliverySearch, { eventId: ID }, { eventId: ID }, { eventId: 'half an id' }],
  [
    'the users',
    readUserSearch,
    { text: 2026, role: 'ADMIN', status: 'INACTIVE', sort: 'email,asc', page: 2 },
    { text: '2026', role: 'ADMIN', status: 'INACTIVE', sort: 'email,asc', page: 2 },
    { text: '', role: 'OWNER', status: 'LATE', sort: 'shoes,asc', page: -1 },
  ],
  [
    'the tokens',
    readTokenSearch,
    { sort: 'name,asc' },
    { sort: 'name,asc' },
    { sort: 'role,asc', page: 1.5 },
  ],
  ['the system', readSystemSearch, { lag: 'seconds' }, { lag: 'seconds' }, { lag: 'events' }],
])('the URL of %s keeps what the page uses and leaves out the rest', ([, read, used, known, unusable]) => {
  expect(read(used)).toEqual(known)
  expect(read(unusable)).toEqual({})
})

test('records of the catalogue with equal values are in the order of their names', () => {
  expect(listOf({ search: 'a b', sort: 'status,asc' })).toEqual({
    q: 'a b',
    sort: ['status,asc', 'name,asc'],
  })
  expect(listOf({ search: 'a b' })).toEqual({ q: 'a b', sort: [] })
  expect(listOf({ sort: 'name,desc' })).toEqual({ sort: ['name,desc'] })
  expect(listOf({ tags: ['a'], sort: 'score' })).toEqual({ tags: ['a'], sort: [], scoreBelow: 100 })
  expect(readApiSearch({ sort: 'score' })).toEqual({ sort: 'score' })
  expect(readApiSearch({ search: 'a', sort: 'score' })).toEqual({ search: 'a' })
})

test.for([
  ['/', '/'],
  ['/apis?tags=a%2F..#b', '/apis?tags=a%2F..#b'],
  ['/apis/../users', '/users'],
] as const)('after the login, next=%s opens %s', ([next, opened]) => {
  expect(readLoginSearch({ next })).toEqual({ next: opened })
})

test.for([
  ...[
    undefined,
    'apis',
    'https://evil.test',
    '//evil.test',
    '/\\evil.test',
    '/\t/evil.test',
    '/%2f/evil.test',
  ],
  ...['/../x', '/a/../../x', '/%2e%2E/x', '/.%2e/x', '/..\\x', '/\n../x', '/%5C%5cevil.test', '/..%2fx'],
])('after the login, next=%s does not leave the console', next => {
  expect(readLoginSearch({ next })).toEqual({})
})
