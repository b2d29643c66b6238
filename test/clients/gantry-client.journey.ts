import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gantryClient } from '@gantry/client'
import { buildPackage } from '@gantry/client/testing'
import { freePort } from '@gantry/service-runtime/testing'
import { startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'gantry-client-'))
/** A project that has installed the package. */
const project = join(folder, 'project')
/** The Node that runs npm: 20 or later. */
const node = process.env.npm_node_execpath ?? process.execPath
const run = promisify(execFile)

const service = await startServiceProcess(join(folder, 'data'))
const gantry = gantryClient({
  baseUrl: service.url,
  token: service.authorization,
})
const webhook = {
  displayName: 'Receiver',
  active: true,
  eventTypes: ['API_DEPLOYED' as const, 'API_CREATED' as const],
}
let token = ''

beforeAll(async () => {
  buildPackage(join(folder, 'dist'))
  await run('npm', ['pack', join(folder, 'dist'), '--pack-destination', folder], { cwd: folder })
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"name":"project","type":"module"}')
  const options = ['--offline', '--no-audit', '--no-fund']
  await run('npm', ['install', join(folder, 'gantry-client-0.1.0.tgz'), ...options], { cwd: project })
  const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8')
  for (const [, name = '', code = ''] of readme.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm))
    writeFileSync(join(project, name), code.replaceAll('http://localhost:8080', service.url))
  const { body } = await gantry.createAccessToken({
    body: {
      name: 'examples',
      scopes: [
        'API_READ',
        'API_WRITE',
        'WEBHOOKS_READ',
        'WEBHOOKS_WRITE',
        'ACCESS_TOKEN_MANAGE',
        'AUDIT_LOG_READ',
      ],
    },
  })
  token = body.token ?? ''
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The environment of the examples. */
const environment = (settings: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  GANTRY_TOKEN: token,
  GANTRY_ADMIN_PASSWORD: service.password,
  ...settings,
})

/** Runs an example to its end. @returns the lines that it has printed */
async function lines(example: string, settings?: Record<string, string>): Promise<string[]> {
  const { stdout } = await run(node, [join(project, example)], { cwd: project, env: environment(settings) })
  return stdout.split('\n').slice(0, -1)
}

/** Calls a function of an example. */
const calling = (example: string, call: string) =>
  run(
    node,
    ['--input-type=module', '--eval', `import * as it from './${example}'\nconsole.log(await it.${call})`],
    {
      cwd: project,
      env: environment(),
    },
  ).then(({ stdout }) => stdout.trim())

/** Starts an example that does not end. */
function start(example: string, settings?: Record<string, string>) {
  const child = endsWithParent(
    spawn(node, [join(project, example)], { cwd: project, env: environment(settings) }),
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  const stop = async () => {
    child.kill()
    await once(child, 'close')
  }
  return { output: () => output, stop }
}

const newApi = async (name: string) =>
  (await gantry.createApi({ body: { name, displayName: name, status: 'ACTIVE', tags: [] } })).body

test('the examples of the README have no type errors against the declarations of the package', async () => {
  const tool = dirname(createRequire(join(ROOT, 'package.json')).resolve('@typescript/native/package.json'))
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, checkJs: true, skipLibCheck: false },
    ...{
      target: 'es2022',
      module: 'nodenext',
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mjs'] }))
  const checked = run(process.execPath, [join(tool, 'bin/tsc'), '-p', project]).catch(error => error)
  expect((await checked).stdout).toBe('')
})

test('the package installs nothing else, and signs in, creates and lists', async () => {
  const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: project })
  expect(stdout.trim().split('\n')).toHaveLength(2)
  expect(await lines('login.mjs')).toEqual(['Administrator'])
  expect(await lines('first.mjs')).toEqual([expect.stringMatching(/^weather 20/)])
  expect(await lines('problems.mjs')).toEqual([expect.stringMatching(/^name /)])
})

test('a change with an entity tag succeeds once, and an unchanged record is not sent again', async () => {
  const { id } = await newApi('tagged')
  await calling('entity-tags.mjs', `addTag('${id}', 'new')`)
  const { body, etag } = await gantry.getApi({ api_id: id })
  expect(body.tags).toEqual(['new'])
  expect(await calling('entity-tags.mjs', `changedApi('${id}', '${etag}')`)).toBe('undefined')
  await expect(gantry.deleteApi({ api_id: id }, { ifMatch: '"0"' })).rejects.toMatchObject({
    status: 412,
    code: 'precondition-failed',
  })
})

test('an image and a document are uploaded, and downloaded as they were', async () => {
  const { id } = await newApi('with-content')
  const { body: version } = await gantry.createVersion({ api_id: id, body: { name: '1' } })
  const image = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
  const document = 'openapi: 3.1.0\ninfo: {title: T, version: "1"}\npaths: {}\n'
  writeFileSync(join(project, 'logo.png'), image)
  writeFileSync(join(project, 'openapi.yaml'), document)
  await calling('documents.mjs', `upload('${id}', '${version.id}')`)
  rmSync(join(project, 'logo.png'))
  await calling('documents.mjs', `download('${id}')`)
  expect(readFileSync(join(project, 'logo.png'), 'utf8')).toBe(image)
  const stored = await gantry.downloadDocument({ api_id: id, version_id: '1', name: 'openapi.yaml' })
  expect(await new Response(stored.body).text()).toBe(document)
})

test('a follower continues after the position that it saved', async () => {
  const first = await newApi('first-event')
  const before = start('follow.mjs')
  await vi.waitFor(() => expect(before.output()).toContain(first.id))
  await before.stop()
  const second = await newApi('second-event')
  const after = start('follow.mjs')
  await vi.waitFor(() => expect(after.output()).toContain(second.id))
  await after.stop()
  expect(after.output()).toBe(`API_CREATED ${second.id}\n`)
})

test('a receiver accepts deliveries with the old secret after a rotation, and refuses those of another one', async () => {
  const ports = [await freePort(), await freePort()]
  const created = await Promise.all(
    ports.map(port => gantry.createWebhook({ body: { ...webhook, url: `http://127.0.0.1:${port}/` } })),
  )
  const [own, other] = created.map(({ body }) => body)
  const receivers = ports.map(port =>
    start('receiver.mjs', { PORT: `${port}`, WEBHOOK_SECRET: `${own?.secret}` }),
  )
  onTestFinished(async () => {
    for (const receiver of receivers) await receiver.stop()
    for (const { body } of created) await gantry.deleteWebhook({ webhook_id: body.id })
  })
  await gantry.rotateWebhookSecret({ webhook_id: `${own?.id}` })
  const api = await newApi('deployed')
  const environment_id = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
  await gantry.deployApi({ environment_id, api_id: api.id })
  await vi.waitFor(() => expect(receivers[0]?.output()).toBe(`deployed ${environment_id}\n`))
  const statuses = (webhook_id = '') =>
    gantry.listWebhookDeliveries
      .all({ webhook_id, eventType: 'API_DEPLOYED' })
      .toArray()
      .then(all => all.map(({ responseStatus }) => responseStatus))
  await vi.waitFor(async () => expect(await statuses(own?.id)).toEqual([204]))
  await vi.waitFor(async () => expect(await statuses(other?.id)).toEqual([400]))
})

test('a folder of APIs is mirrored, with changes and deletions', async () => {
  const documents = join(project, 'apis')
  mkdirSync(documents)
  const write = (name: string, title: string) =>
    writeFileSync(
      join(documents, name),
      JSON.stringify({ openapi: '3.1.0', info: { title, version: '1' }, paths: {} }),
    )
  const mirrored = async () =>
    (await gantry.listApis.all({ tags: ['mirrored'] }).toArray()).map(({ name }) => name)
  write('a.json', 'Accounts')
  write('b.json', 'Billing')
  expect(await lines('mirror.mjs')).toEqual(['a.json: Accounts', 'b.json: Billing'])
  expect(await mirrored()).toEqual(['Accounts', 'Billing'])
  rmSync(join(documents, 'b.json'))
  write('c.json', 'Contracts')
  expect(await lines('mirror.mjs')).toContainEqual(expect.stringMatching(/^deleted /))
  writeFileSync(join(documents, 'a.json'), '{"openapi": "3.1.0"')
  expect(await lines('mirror.mjs')).toEqual(['c.json: Contracts'])
  expect(await mirrored()).toEqual(['Accounts', 'Contracts'])
  await gantry.importApi({
    body: new Blob(['{"openapi":"3.1.0","info":{"title":"Dues","version":"1"},"paths":{}}']),
  })
  write('d.json', 'Dues')
  expect(await lines('mirror.mjs')).toEqual(['c.json: Contracts'])
  expect(await mirrored()).toEqual(['Accounts', 'Contracts'])
})

test('failed deliveries of a day are retried', async () => {
  let status = 500
  const receiver = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void receiver.close())
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const { body } = await gantry.createWebhook({ body: { ...webhook, url } })
  const { body: delivery } = await gantry.testWebhook({ webhook_id: body.id })
  const ids = { webhook_id: body.id, request_id: delivery.id }
  const becomes = (expected: string) =>
    vi.waitFor(async () => expect((await gantry.getDelivery(ids)).body.status).toBe(expected))
  await becomes('GIVE_UP')
  expect(await lines('retry-failed.mjs')).toEqual([])
  status = 204
  const { createdAt } = delivery
  expect(await lines('retry-failed.mjs', { DAY: createdAt.slice(0, 10) })).toEqual([
    expect.stringContaining(`${delivery.id} TEST`),
  ])
  await becomes('SUCCESS')
})

test('access tokens are rotated, that of the script last, also after a run that died', async () => {
  expect(await lines('rotate-tokens.mjs')).toEqual([])
  const scopes = ['ACCESS_TOKEN_MANAGE' as const, 'API_READ' as const]
  const other = { name: 'other', scopes, validityDays: 7 }
  const { body: old } = await gantry.createAccessToken({ body: other })
  const script = gantryClient({ baseUrl: service.url, token })
  const lost = await script.createAccessToken({ body: other }, { idempotencyKey: `rotate-${old.id}` })
  const printed = await lines('rotate-tokens.mjs', { DAYS: '0' })
  expect(printed.pop()).toMatch(/^examples pat_/)
  expect(printed).toHaveLength(2)
  expect(printed).toContain(`other ${lost.body.token}`)
  await expect(script.getSession()).rejects.toMatchObject({ status: 401 })
  const renewed = printed.find(line => !line.endsWith(`${lost.body.token}`))?.split(' ')[1]
  const { body } = await gantryClient({ baseUrl: service.url, token: renewed }).getSession()
  expect(body.scopes.toSorted()).toEqual(scopes)
})
