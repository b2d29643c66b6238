import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test, vi } from 'vitest'
import { answerOf, type Recording, unpackDataFolder } from './src/data-folder.ts'

/** Data folders of earlier releases, by commit. src/fixtures/make-data-folder.ts makes another one. */
const RELEASES = ['c4bc654', '73e1357']
const CLOCK = resolve(import.meta.dirname, '../cluster/src/shifted-clock.ts')
const AUDIT_LOG = '/auditLog?size=100'
const EVENTS = '/events?follow=false'
const MINUTE_MS = 60_000

interface Page<Item> {
  content: Item[]
}
interface AuditRecord {
  id: string
  timestamp: string
  action: string
}
interface Delivery {
  id: string
  webhook: string
  status: string
}

test.for(RELEASES)(
  'a data folder of %s opens, answers as before and continues',
  {
    timeout: 120_000,
  },
  async release => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-release-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const recording = await unpackDataFolder(release, folder)
    const receiver = await startReceiver()

    const opened = await start(folder, recording, 1)
    await answersAsBefore(opened, recording)
    await opened.stop()

    for (const suffix of ['', '-wal', '-shm'])
      await rm(join(folder, `read-models.db${suffix}`), { force: true })
    const rebuilt = await start(folder, recording, 2)
    await vi.waitFor(() => answersAsBefore(rebuilt, recording), { timeout: 30_000, interval: 500 })
    await continueWriting(rebuilt, recording, receiver.url)
    await rebuilt.stop()

    const later = await start(folder, recording, 180)
    const pending = recorded<Page<Delivery>>(recording, '/webhooks/requests?size=100')
      .content.filter(({ status }) => status === 'CREATED' || status === 'RETRYING')
      .map(({ id }) => id)
    const delivered = async () => {
      const { content } = await read<Page<Delivery>>(later, '/webhooks/requests?size=100&status=SUCCESS')
      return content.map(({ id }) => id)
    }
    await vi.waitFor(async () => expect(await delivered()).toEqual(expect.arrayContaining(pending)), {
      timeout: 30_000,
      interval: 200,
    })
    receiver.expectSigned(recording)
    await auditedAsBefore(later, recording)
    const { content } = await read<Page<AuditRecord>>(later, AUDIT_LOG)
    expect(content.map(({ action }) => action)).toEqual(expect.arrayContaining(['WEBHOOK_UPDATED']))
    await expectToken(later, recording)
    await later.stop()
  },
)

/** Starts this release on the data folder, with a clock that shows the given minutes after the recording. */
function start(folder: string, { recordedAt }: Recording, minutes: number): Promise<ServiceProcess> {
  const shift = Date.parse(recordedAt) + minutes * MINUTE_MS - Date.now()
  return startServiceProcess(folder, { NODE_OPTIONS: `--import ${CLOCK}`, CLOCK_SHIFT_MS: String(shift) })
}

const get = async ({ url, authorization }: ServiceProcess, path: string) =>
  answerOf(await fetch(`${url}${path}`, { headers: { authorization } }))
const read = async <Body>(service: ServiceProcess, path: string) => (await get(service, path)).body as Body
const recorded = <Body>({ answers }: Recording, path: string) => answers[path]?.body as Body

/** Later releases may add fields. */
async function answersAsBefore(service: ServiceProcess, recording: Recording): Promise<void> {
  for (const [path, before] of Object.entries(recording.answers)) {
    if (path === AUDIT_LOG) await auditedAsBefore(service, recording)
    else if (path === EVENTS) await eventsAsBefore(service, recording)
    else expect({ path, ...(await get(service, path)) }).toMatchObject({ path, ...before })
  }
}

async function auditedAsBefore(service: ServiceProcess, recording: Recording): Promise<void> {
  const { content } = await read<Page<AuditRecord>>(service, AUDIT_LOG)
  const before = content.filter(({ timestamp }) => timestamp <= recording.recordedAt)
  expect(before).toMatchObject(recorded<Page<AuditRecord>>(recording, AUDIT_LOG).content)
}

/** Positions have another form since. */
async function eventsAsBefore({ url, authorization }: ServiceProcess, recording: Recording): Promise<void> {
  const headers = { authorization, accept: 'application/x-ndjson' }
  const { body } = await answerOf(await fetch(`${url}${EVENTS}`, { headers }))
  const before = recorded<{ position: string }[]>(recording, EVENTS).map(({ position, ...event }) => event)
  expect(body).toMatchObject(before)
}

/** An access token that the earlier release issued is valid for its scopes. */
async function expectToken({ url }: ServiceProcess, { reader }: Recording): Promise<void> {
  const headers = { authorization: `Bearer ${reader}` }
  expect((await fetch(`${url}/apis`, { headers })).status).toBe(200)
  expect((await fetch(`${url}/users`, { headers })).status).toBe(403)
}

/** Points the webhooks to the receiver, changes all APIs and creates another. */
async function continueWriting(
  { url, authorization }: ServiceProcess,
  recording: Recording,
  receiver: string,
): Promise<void> {
  const write = async (method: string, path: string, body: object) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
    const { id } = (await response.json()) as { id: string }
    expect({ path, status: response.status, id }).toMatchObject({ status: method === 'PUT' ? 200 : 201 })
    return id
  }
  for (const webhook of recorded<Page<{ id: string }>>(recording, '/webhooks?size=100').content) {
    if (webhook.id in recording.secrets)
      await write('PUT', `/webhooks/${webhook.id}`, { ...webhook, url: `${receiver}/${webhook.id}` })
  }
  for (const api of recorded<Page<{ id: string }>>(recording, '/apis?size=100').content)
    await write('PUT', `/apis/${api.id}`, { ...api, description: 'Changed' })
  const id = await write('POST', '/apis', { name: 'new', displayName: 'New', status: 'ACTIVE', tags: [] })
  await write('POST', `/apis/${id}/versions`, { name: '1.0.0' })
}

/** Receives deliveries at paths that name the webhook. */
async function startReceiver() {
  const received: { webhook: string; body: string; headers: Record<string, string> }[] = []
  const server = createServer(async (request, response) => {
    const headers = request.headers as Record<string, string>
    received.push({ webhook: request.url?.slice(1) ?? '', body: await text(request), headers })
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Expects that every delivery was signed with the secret that the earlier release showed. */
    expectSigned({ secrets }: Recording) {
      onTestFinished(() => void vi.useRealTimers())
      for (const { webhook, body, headers } of received) {
        vi.setSystemTime(Number(headers['webhook-timestamp']) * 1_000)
        expect(new Webhook(secrets[webhook] ?? '').verify(body, headers)).toMatchObject({})
      }
      expect(new Set(received.map(({ webhook }) => webhook))).toEqual(new Set(Object.keys(secrets)))
    },
  }
}
