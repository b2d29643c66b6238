import { client } from './generated/hey-api/client.gen.js'
import * as gantry from './generated/hey-api/sdk.gen.js'
import type { ApiInput, Problem } from './generated/hey-api/types.gen.js'
import { CREDENTIALS, check, DOCUMENT, did, IMAGE, NOWHERE, URL } from './story.js'

client.setConfig({ baseUrl: URL })

const login = await gantry.login({ body: CREDENTIALS })
check(login.data?.role === 'GLOBAL_ADMIN', 'the role of the user')
const [, bearer] = login.response?.headers.get('authorization')?.split(' ') ?? []
client.setConfig({ auth: () => bearer })
did('login header')

const body: ApiInput = {
  name: 'payments-of-hey-api',
  displayName: 'Payments',
  status: 'ACTIVE',
  tags: ['finance'],
}
const create = () => gantry.createApi({ headers: { 'Idempotency-Key': 'payments-of-hey-api' }, body })
const [first, second] = [await create(), await create()]
const api = first.data
check(api && second.data?.id === api.id, 'the same API')
check(second.response?.headers.get('idempotency-replayed') === 'true', 'the repeated response')
did('create with key')

const list = await gantry.listApis({ query: { name: body.name, tags: ['finance'] } })
check(list.data?.content[0]?.id === api.id && list.data.totalElements === 1, 'the list')
did('list')

const path = { api_id: api.id }
const etag = first.response?.headers.get('etag') ?? ''
const unchanged = await gantry.getApi({ path, headers: { 'If-None-Match': etag } })
check(unchanged.response?.status === 304, 'the status 304')
did('304')

const update = (tag: string) =>
  gantry.updateApi({ path, headers: { 'If-Match': tag }, body: { ...api, tags: [] } })
check((await update(etag)).data?.tags.length === 0, 'the updated API')
const stale = await update(etag)
check(stale.error?.code === 'precondition-failed' && stale.response?.status === 412, 'the status 412')
did('412')

const uploaded = await gantry.uploadImage({ path, body: { file: IMAGE } })
check(uploaded.data?.contentType === 'image/png' && uploaded.data.width === 1, 'the properties of the image')
did('upload')

const image = await gantry.downloadImage({ path })
check(image.data instanceof Blob && image.data.size === IMAGE.size, 'the image')
did('download')

const version = await gantry.createVersion({ path, body: { name: '1', status: 'DEVELOPMENT' } })
check(version.data?.status === 'DEVELOPMENT', 'the version')
did('version')

const document = { ...path, version_id: version.data.id, name: 'openapi.json' }
const put = await gantry.putDocument({ path: document, body: new Blob([DOCUMENT]) })
check(put.data?.kind === 'openapi' && put.data.title === 'Payments', 'the kind of the document')
const got = await gantry.downloadDocument({ path: document, parseAs: 'blob' })
check(got.data instanceof Blob && (await got.data.text()) === DOCUMENT, 'the document')
did('document')

const token = await gantry.createAccessToken({
  body: { name: 'reader', scopes: ['API_READ'], validityDays: 1 },
})
const auth = token.data?.token ?? ''
const refused = await gantry.createApi({ auth, body })
check(
  (await gantry.listApis({ auth })).data && refused.error?.code === 'scope-missing',
  'the scope of the token',
)
did('token')

const webhook = await gantry.createWebhook({
  body: { displayName: 'Nowhere', url: NOWHERE, active: true, eventTypes: ['API_CREATED'] },
})
check(webhook.data?.secret, 'the secret')
did('webhook')

const tested = await gantry.testWebhook({ path: { webhook_id: webhook.data.id } })
const deliveries = await gantry.listWebhookDeliveries({
  path: { webhook_id: webhook.data.id },
  query: { sort: ['createdAt,desc'] },
})
check(
  deliveries.data?.content.some(({ id, eventType }) => id === tested.data?.id && eventType === 'TEST'),
  'the delivery',
)
did('deliveries')

for (let after: string | undefined, found = false; !found; ) {
  const page = await gantry.streamEvents({
    query: { type: ['API_CREATED'], api: api.id, ...(after && { after }) },
  })
  check(page.data && 'content' in page.data, 'a page of events')
  found = page.data.content.some(event => event.subject === api.id)
  after = page.data.position
}
did('page of events')

const invalid = await gantry.createApi({ body: { ...body, name: '' } })
const problem: Problem | undefined = invalid.error
check(problem?.code === 'invalid-request' && problem.errors?.[0]?.field === 'name', 'the problem')
did('typed problem')
