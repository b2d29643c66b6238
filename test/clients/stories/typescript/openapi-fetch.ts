import createClient from 'openapi-fetch'
import type { components, paths } from './generated/openapi.js'
import { CREDENTIALS, check, DOCUMENT, did, IMAGE, NOWHERE, URL } from './story.js'

const gantry = createClient<paths>({ baseUrl: URL })

const login = await gantry.POST('/login', { body: CREDENTIALS })
check(login.data?.role === 'GLOBAL_ADMIN', 'the role of the user')
const authorization = login.response.headers.get('authorization') ?? ''
gantry.use({ onRequest: ({ request }) => request.headers.set('authorization', authorization) })
did('login header')

const body: components['schemas']['ApiInput'] = {
  name: 'payments-of-openapi-fetch',
  displayName: 'Payments',
  status: 'ACTIVE',
  tags: ['finance'],
}
const create = () =>
  gantry.POST('/apis', { params: { header: { 'Idempotency-Key': 'payments-of-openapi-fetch' } }, body })
const [first, second] = [await create(), await create()]
const api = first.data
check(api && second.data?.id === api.id, 'the same API')
check(second.response.headers.get('idempotency-replayed') === 'true', 'the repeated response')
did('create with key')

const list = await gantry.GET('/apis', { params: { query: { name: body.name, tags: ['finance'] } } })
check(list.data?.content[0]?.id === api.id && list.data.totalElements === 1, 'the list')
did('list')

const path = { api_id: api.id }
const etag = first.response.headers.get('etag') ?? ''
const unchanged = await gantry.GET('/apis/{api_id}', { params: { path, header: { 'If-None-Match': etag } } })
check(unchanged.response.status === 304, 'the status 304')
did('304')

const update = (tag: string) =>
  gantry.PUT('/apis/{api_id}', { params: { path, header: { 'If-Match': tag } }, body: { ...api, tags: [] } })
check((await update(etag)).data?.tags.length === 0, 'the updated API')
const stale = await update(etag)
check(stale.error?.code === 'precondition-failed' && stale.response.status === 412, 'the status 412')
did('412')

const uploaded = await gantry.PUT('/apis/{api_id}/image', {
  params: { path },
  body: { file: IMAGE },
  bodySerializer({ file }) {
    const form = new FormData()
    form.set('file', file)
    return form
  },
})
check(uploaded.data?.contentType === 'image/png' && uploaded.data.width === 1, 'the properties of the image')
did('upload')

const image = await gantry.GET('/apis/{api_id}/image', { params: { path }, parseAs: 'blob' })
check(
  image.data && Buffer.from(await image.data.arrayBuffer()).equals(Buffer.from(await IMAGE.arrayBuffer())),
  'the image',
)
did('download')

const version = await gantry.POST('/apis/{api_id}/versions', {
  params: { path },
  body: { name: '1', status: 'DEVELOPMENT' },
})
check(version.data?.status === 'DEVELOPMENT', 'the version')
did('version')

const document = { ...path, version_id: version.data.id, name: 'openapi.json' }
const put = await gantry.PUT('/apis/{api_id}/versions/{version_id}/documents/{name}', {
  params: { path: document },
  body: new Blob([DOCUMENT]),
  bodySerializer: bytes => bytes,
  headers: { 'Content-Type': 'application/octet-stream' },
})
check(put.data?.kind === 'openapi' && put.data.title === 'Payments', 'the kind of the document')
const got = await gantry.GET('/apis/{api_id}/versions/{version_id}/documents/{name}', {
  params: { path: document },
  parseAs: 'blob',
})
check((await got.data?.text()) === DOCUMENT, 'the document')
did('document')

const token = await gantry.POST('/accessTokens', {
  body: { name: 'reader', scopes: ['API_READ'], validityDays: 1 },
})
const headers = { authorization: `Bearer ${token.data?.token}` }
const reader = createClient<paths>({ baseUrl: URL, headers })
const refused = await reader.POST('/apis', { body })
check((await reader.GET('/apis')).data && refused.error?.code === 'scope-missing', 'the scope of the token')
did('token')

const webhook = await gantry.POST('/webhooks', {
  body: { displayName: 'Nowhere', url: NOWHERE, active: true, eventTypes: ['API_CREATED'] },
})
check(webhook.data?.secret, 'the secret')
did('webhook')

const tested = await gantry.POST('/webhooks/{webhook_id}/test', {
  params: { path: { webhook_id: webhook.data.id } },
})
const deliveries = await gantry.GET('/webhooks/{webhook_id}/requests', {
  params: { path: { webhook_id: webhook.data.id }, query: { sort: ['createdAt,desc'] } },
})
check(
  deliveries.data?.content.some(({ id, eventType }) => id === tested.data?.id && eventType === 'TEST'),
  'the delivery',
)
did('deliveries')

for (let position: string | undefined, found = false; !found; ) {
  const page = await gantry.GET('/events', {
    params: { query: { type: ['API_CREATED'], api: api.id, ...(position && { after: position }) } },
  })
  check(page.data && 'content' in page.data, 'a page of events')
  found = page.data.content.some(event => 'subject' in event && event.subject === api.id)
  position = page.data.position
}
did('page of events')

const invalid = await gantry.POST('/apis', { body: { ...body, name: '' } })
const problem: components['schemas']['Problem'] | undefined = invalid.error
check(problem?.code === 'invalid-request' && problem.errors?.[0]?.field === 'name', 'the problem')
did('typed problem')
