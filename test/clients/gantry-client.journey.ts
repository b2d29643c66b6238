import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gantryClient, logIn, type Schemas, VALUES } from '@gantry/client'
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
/** Tokens with the scopes that the first line of each example names. */
const tokens: Record<string, string> = {}

beforeAll(async () => {
  buildPackage(join(folder, 'dist'))
  await run('npm', ['pack', join(folder, 'dist'), '--pack-destination', folder], { cwd: folder })
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"name":"project","type":"module"}')
  const options = ['--offline', '--no-audit', '--no-fund']
  await run('npm', ['install', join(folder, 'gantry-client-0.1.0.tgz'), ...options], { cwd: project })
  const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8')
  for (const [, name = '', code = ''] of readme.matchAll(/^```js(?:on)? (\S+)\n([\s\S]*?)^```$/gm)) {
    writeFileSync(join(project, name), code.replaceAll('http://localhost:8080', service.url))
    const named = /^\/\/ Scopes: (.*)/.exec(code)?.[1]?.match(/\w+/g) ?? []
    const scopes = VALUES.Scope.filter(scope => named.some(name => name === scope))
    if (scopes.length > 0) tokens[name] = await newToken(gantry, { name, scopes })
  }
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** @returns the secret */
async function newToken(of: typeof gantry, body: Schemas['AccessTokenInput']): Promise<string> {
  return (await of.createAccessToken({ body })).body.token ?? ''
}

/** The environment of an example. */
const environment = (example: string, settings: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  GANTRY_TOKEN: tokens[example],
  GANTRY_ADMIN_PASSWORD: service.password,
  ...settings,
})

/** Runs an example to its end. @returns the lines that it has printed, those of standard error last */
async function lines(example: string, settings?: Record<string, string>): Promise<string[]> {
  const options = { cwd: project, env: environment(example, settings) }
  const { stdout, stderr } = await run(node, [join(project, example)], options).catch(failed => failed)
  return `${stdout}${stderr}`.split('\n').slice(0, -1)
}

/** Calls a function of an example. */
const calling = (example: string, call: string) =>
  run(
    node,
    ['--input-type=module', '--eval', `import * as it from './${example}'\nconsole.log(await it.${call})`],
    {
      cwd: project,
      env: environment(example),
    },
  ).then(({ stdout }) => stdout.trim())

/** Starts an example that does not end. */
function start(example: string, settings?: Record<string, string>) {
  const child = endsWithParent(
    spawn(node, [join(project, example)], { cwd: project, env: environment(example, settings) }),
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
    ...{ exactOptionalPropertyTypes: true, noEmit: true, checkJs: true, skipLibCheck: false },
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  const config = join(project, 'checked.json')
  writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', compilerOptions, include: ['*.mjs'] }))
  const checked = run(process.execPath, [join(tool, 'bin/tsc'), '-p', config]).catch(error => error)
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
  const last = await newApi('last-event')
  const before = start('follow.mjs')
  // The position of an event is saved before the next one is printed.
  await vi.waitFor(() => expect(before.output()).toContain(last.id))
  await before.stop()
  const second = await newApi('second-event')
  const after = start('follow.mjs')
  await vi.waitFor(() => expect(after.output()).toContain(second.id))
  await after.stop()
  expect(after.output()).not.toContain(first.id)
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
  const write = (name: string, title: string, version = '1') =>
    writeFileSync(
      join(documents, name),
      JSON.stringify({ openapi: '3.1.0', info: { title, version }, paths: {} }),
    )
  const apis = () => gantry.listApis.all({ tags: ['mirrored'] }).toArray()
  const mirrored = async () => (await apis()).map(({ name }) => name)
  write('a.json', 'Accounts')
  write('b.json', 'Billing')
  expect(await lines('mirror.mjs')).toEqual(['a.json: Accounts', 'b.json: Billing'])
  expect(await mirrored()).toEqual(['Accounts', 'Billing'])
  write('a.json', 'Accounts', '2')
  write('a3.json', 'Accounts', '3')
  await lines('mirror.mjs')
  const versions = await gantry.listVersions.all({ api_id: `${(await apis())[0]?.id}` }).toArray()
  expect(versions.map(({ name }) => name).sort()).toEqual(['2', '3'])
  rmSync(join(documents, 'a3.json'))
  rmSync(join(documents, 'b.json'))
  write('c.json', 'Contracts')
  expect(await lines('mirror.mjs')).toContainEqual(expect.stringMatching(/^deleted /))
  writeFileSync(join(documents, 'a.json'), '{"openapi": "3.1.0"')
  expect(await lines('mirror.mjs')).toEqual(['c.json: Contracts', expect.stringMatching(/^a.json: /)])
  expect(await mirrored()).toEqual(['Accounts', 'Contracts'])
  await gantry.importApi({
    body: new Blob(['{"openapi":"3.1.0","info":{"title":"Dues","version":"1"},"paths":{}}']),
  })
  write('d.json', 'Dues')
  expect(await lines('mirror.mjs')).toContain('d.json: Error: the API Dues is not of this folder')
  expect(await mirrored()).toEqual(['Accounts', 'Contracts'])
})

test('failed deliveries of a day are retried, also after one that cannot be', async () => {
  let status = 500
  const receiver = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void receiver.close())
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const becomes = ({ id: request_id, webhook: webhook_id }: Schemas['Delivery'], expected: string) =>
    vi.waitFor(async () =>
      expect((await gantry.getDelivery({ webhook_id, request_id })).body.status).toBe(expected),
    )
  const failed = async () => {
    const { body } = await gantry.createWebhook({ body: { ...webhook, url } })
    const { body: delivery } = await gantry.testWebhook({ webhook_id: body.id })
    await becomes(delivery, 'GIVE_UP')
    return (await gantry.getDelivery({ webhook_id: body.id, request_id: delivery.id })).body
  }
  const delivery = await failed()
  const refused = await failed()
  await gantry.deleteWebhook({ webhook_id: refused.webhook })
  expect(await lines('retry-failed.mjs')).toEqual([])
  status = 204
  const DAY = delivery.lastAttemptAt?.slice(0, 10) ?? ''
  expect(await lines('retry-failed.mjs', { DAY })).toEqual([
    expect.stringContaining(`${delivery.id} TEST`),
    expect.stringContaining(`${refused.id} TEST`),
  ])
  await becomes(delivery, 'SUCCESS')
})

test('access tokens are rotated, that of the script last, and none whose new secret the script cannot have', async () => {
  const user = { username: 'rotator', password: 'rotator-password-1' }
  await gantry.createUser({ body: { ...user, role: 'ADMIN' } })
  const login = () => logIn({ baseUrl: service.url, ...user })
  const as = (token: string) => gantryClient({ baseUrl: service.url, token })
  const owner = as(await login())
  const create = (name: string, scopes: Schemas['Scope'][]) =>
    newToken(owner, { name, scopes, validityDays: 7 })
  const token = await create('script', ['ACCESS_TOKEN_MANAGE', 'API_READ'])
  await create('wide', ['API_READ', 'API_WRITE'])
  await create('narrow', ['API_READ'])
  const rotate = (GANTRY_TOKEN: string, DAYS: string) => lines('rotate-tokens.mjs', { GANTRY_TOKEN, DAYS })
  expect(await rotate(token, '30')).toEqual([])
  const listed = () => owner.listAccessTokens.all().toArray()
  const before = await listed()
  /** What a run that dies does for a token. */
  const begin = async (by: typeof gantry, name: string) => {
    const { id, scopes } = before.find(each => each.name === name) as Schemas['AccessToken']
    const body = { name, scopes, validityDays: 7 }
    return (await by.createAccessToken({ body }, { idempotencyKey: `rotate-${id}` })).body
  }
  const { token: repeated } = await begin(as(token), 'narrow')
  const printed = await rotate(token, '0')
  expect(printed).toEqual([
    `narrow ${repeated}`,
    ...['narrow', 'script'].map(name => expect.stringMatching(`^${name} pat_`)),
    'wide has scopes that this program lacks: API_WRITE',
  ])
  await expect(as(token).getSession()).rejects.toMatchObject({ status: 401 })
  const { body: renewed } = await as(`${printed[2]?.split(' ')[1]}`).getSession()
  expect(renewed.scopes.toSorted()).toEqual(['ACCESS_TOKEN_MANAGE', 'API_READ'])
  const { id: lost } = await begin(owner, 'wide')
  expect(await rotate(await login(), '0')).toContain(
    `wide: another login has received the secret of the new token ${lost}`,
  )
  const kept = (await listed()).filter(({ id }) => before.some(each => each.id === id))
  expect(kept.map(({ name }) => name)).toEqual(['wide'])
})
