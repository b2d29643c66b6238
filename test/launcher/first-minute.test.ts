import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test } from 'vitest'
import { whyInstall } from '../../bin/install.mjs'
import { ROOT, terminal } from './terminal.ts'

test('the first minute of the README works as written: start, log in, create an API, stop', async () => {
  const [, command = ''] =
    /\n## Run it\n.*?^```sh\n(.*?)^```$/ms.exec(await readFile(join(ROOT, 'README.md'), 'utf8')) ?? []
  expect(command).toBe('npm start\n')
  // Otherwise `npm start` would install packages that the running tests use.
  expect(whyInstall(ROOT, 'tools'), 'first run: npm run check').toBeUndefined()
  const folder = await mkdtemp(join(tmpdir(), 'gantry-first-minute-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  // vitest sets BASE_URL for pages under test.
  const env = {
    DATA_DIR: folder,
    PORT: String(await freePort()),
    GANTRY_ADMIN_PASSWORD: undefined,
    BASE_URL: undefined,
  }
  const { type, until, interrupt } = terminal(env)
  // A shell without a terminal ends on SIGINT otherwise.
  type(`trap : INT\n${command}echo "exit code $?"\n`)
  const [, username, password, url] = await until(
    /username {2}(\S+)\n {2}password {2}(\S+).*Gantry runs at (\S+)\/console .*Try next:.*Ctrl-C stops it/s,
  )

  const json = { 'content-type': 'application/json' }
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ username, password }),
  })
  const headers = { ...json, authorization: login.headers.get('authorization') ?? '' }
  const api = { name: 'first', displayName: 'First', status: 'ACTIVE', tags: [] }
  const created = await fetch(`${url}/apis`, { method: 'POST', headers, body: JSON.stringify(api) })
  expect(created.status).toBe(201)
  const listed = await fetch(`${url}/apis?text=first`, { headers })
  expect(await listed.json()).toMatchObject({ content: [api], totalElements: 1 })

  interrupt()
  expect((await until(/exit code (\d+)/))[1]).toBe('0')
})
