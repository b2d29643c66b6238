import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApi } from '../src/apis.ts'
import { type Command, runCommand, startCommand } from '../src/command.ts'
import { admin, cleanUp, eventually } from '../src/gantry.ts'
import { openInbox } from '../src/receiver.ts'
import type { Api } from '../src/records.ts'
import { createToken } from '../src/users.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const EVENTS = 8
/** Options of a replay that takes some seconds, so that it is interrupted before its end. */
const SLOWLY = ['--rate', '2']

let folder: string
let api: Api
let environment: Record<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conformance-commands-'))
  const { id, token } = await createToken(admin, ['AUDIT_LOG_READ', 'API_READ'])
  cleanUp(`/accessTokens/${id}`)
  environment = { GANTRY_TOKEN: token }
  api = await createApi({ description: 'version 0' })
  for (let number = 1; number < EVENTS; number++)
    (await admin.put(`/apis/${api.id}`, { ...api, description: `version ${number}` })).is(200)
})
afterAll(() => rm(folder, { recursive: true }))

const linesOf = async (path: string) => {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').filter(line => line !== '')
}
/** The ids of the events of the API, from an export that continues until it has all. */
const exported = async () => {
  const path = join(folder, 'export.ndjson')
  let lines: string[] = []
  while (lines.length < EVENTS) {
    const { code, stderr } = await runCommand(['events', 'export', path, '--api', api.id], environment)
    expect(code, stderr).toBe(0)
    lines = await linesOf(path)
  }
  return idsIn(lines)
}
/** Waits until a running command has a result. It takes seconds to start on a busy machine. */
const untilDone = async (command: Command, done: () => Promise<boolean> | boolean) => {
  let running = true
  command.ended.then(() => (running = false))
  while (running && !(await done())) await setTimeout(20)
  expect(running, command.stderr()).toBe(true)
}
const idsIn = (lines: string[]) => lines.map(line => JSON.parse(line).id)

describe('the commands of the event feed', () => {
  test('replays that are killed or interrupted have sent every event in order after the next run', {
    timeout: 120_000,
  }, async () => {
    const whole = await exported()
    expect(new Set(whole).size).toBe(EVENTS)
    await Promise.all([killedReplay(whole), interruptedReplay(whole)])
  })

  const killedReplay = async (whole: string[]) => {
    const path = join(folder, 'replay.ndjson')
    const args = ['events', 'replay', '--file', path, '--api', api.id]
    const replay = startCommand([...args, ...SLOWLY], environment)
    await untilDone(replay, async () => (await linesOf(path)).length > 2)
    replay.child.kill('SIGKILL')
    await replay.ended
    expect((await linesOf(path)).length).toBeLessThan(EVENTS)
    expect((await runCommand(args, environment)).code).toBe(0)
    expect(idsIn(await linesOf(path))).toEqual(whole)
  }

  /** The requests are signed. One that fails is repeated with the same id. */
  const interruptedReplay = async (whole: string[]) => {
    const inbox = openInbox(api.id, (_, number) => ({ status: number === 2 ? 503 : 200 }))
    const args = ['events', 'replay', '--url', inbox.url, '--state', join(folder, 'state'), '--api', api.id]
    const settings = { ...environment, WEBHOOK_SECRET: SECRET }
    const replay = startCommand([...args, ...SLOWLY], settings)
    await untilDone(replay, () => inbox.received.length > 3)
    replay.child.kill('SIGINT')
    expect(await replay.ended).toBe(130)
    expect((await runCommand(args, settings)).code).toBe(0)
    const ids = inbox.received.map(({ headers, body }) => {
      new Webhook(SECRET).verify(body, headers as Record<string, string>)
      return headers['webhook-id']
    })
    expect(ids[2]).toBe(ids[1])
    expect([...new Set(ids)]).toEqual(whole)
  }

  test('tail prints events as they happen, until a signal', async () => {
    const tail = startCommand(['events', 'tail', '--type', 'API_CREATED'], environment)
    let last = api
    await untilDone(tail, async () => {
      last = await createApi()
      const printed = eventually(() => expect(tail.stdout()).toContain(last.id), 500)
      return printed.then(
        () => true,
        () => false,
      )
    })
    expect(tail.stdout()).toMatch(new RegExp(`^\\S+Z  API_CREATED  ${last.id}  ${last.name}  by `, 'm'))
    tail.child.kill('SIGTERM')
    expect(await tail.ended).toBe(143)
  })
})

test('the commands export and verify the audit log', async () => {
  const file = join(folder, 'audit.csv')
  const args = ['audit', 'export', file, '--format', 'csv', '--resource', api.id]
  expect(await runCommand(args, environment)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`is complete: ${EVENTS} records, and the hashes of`),
  })
  const keys = join(folder, 'keys.json')
  await writeFile(keys, (await admin.get('/.well-known/audit-keys.json', {}, { undocumented: true })).text)
  const { code, stdout } = await runCommand(['audit', 'verify', file, '--keys', keys], {})
  expect([code, stdout]).toEqual([0, expect.stringContaining(`: verified: ${EVENTS} records`)])
})
