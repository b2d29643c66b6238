import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { whyInstall } from '../../bin/install.mjs'
import { ROOT, terminal } from './terminal.ts'

/** The password shown in the README, which readers replace by that of their first start. */
const SHOWN = '8yvhy-b7wn3-cwjk6-hc33f'

/** The commands of the tour in the README, one text per block. */
async function tour(): Promise<string[]> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const [, section = ''] = /\n## Tour\n(.*?)\n## /s.exec(readme) ?? []
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

/** The lines of an output that are JSON. */
const answers = (text: string) =>
  text
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))

test('the tour of the README works as written', async ({ skip }) => {
  const curl = spawnSync('curl', ['--version']).status === 0
  skip(!curl && !process.env.CI, 'the tour needs curl, which is not on the PATH')
  // Otherwise `npm start` would install packages that the running tests use.
  expect(whyInstall(ROOT, 'tools'), 'first run: npm run check').toBeUndefined()
  const folder = await mkdtemp(join(tmpdir(), 'gantry-tour-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [port, receiverPort] = [await freePort(), await freePort()]
  const env = {
    DATA_DIR: folder,
    PORT: String(port),
    RECEIVER_PORT: String(receiverPort),
    GANTRY_ADMIN_PASSWORD: undefined,
    // vitest sets this variable for pages under test.
    BASE_URL: undefined,
  }
  const blocks = (await tour()).map(block =>
    block
      .replaceAll('localhost:8080', `localhost:${port}`)
      .replaceAll('127.0.0.1:9000', `127.0.0.1:${receiverPort}`),
  )
  const [start = '', fill = '', search = '', receive = '', deploy = '', history = '', ...more] = blocks
  expect(more).toEqual([])

  const first = terminal(env)
  first.type(start)
  const [, password = ''] = await first.until(/password {2}(\S+).*Gantry runs at/s)

  const second = terminal(env)
  expect(fill).toContain(SHOWN)
  expect(await second.run(fill.replace(SHOWN, password))).toContain('2639 created, 0 updated, 0 unchanged')

  const [weather, payment] = answers(await second.run(search))
  expect(weather).toMatchObject({ content: [{ name: 'visualcrossing.com:weather' }], totalElements: 2 })
  expect(payment.totalElements).toBeGreaterThan(0)

  await second.run(receive)
  await second.until(new RegExp(`Receives webhooks at http://127.0.0.1:${receiverPort}/`))
  const [job] = answers(await second.run(deploy))
  expect(job).toMatchObject({ type: 'DEPLOY', api: weather.content[0].id })
  await second.until(/signature good\n.*"type":"API_DEPLOYED".*\n/)

  // The service stores the response after the receiver has printed the event, so the delivery may still be pending.
  const deliveries = `api localhost:${port}/webhooks/requests\n`
  await vi.waitFor(async () => expect(await second.run(deliveries)).toContain('"status":"SUCCESS"'), 60_000)
  const [requests, auditLog, changes, event, ...others] = answers(await second.run(history))
  expect(requests.content).toMatchObject([{ status: 'SUCCESS', attempts: 1, responseStatus: 204 }])
  expect(auditLog.content[0]).toMatchObject({ action: 'API_DEPLOYED' })
  expect(changes.content).toMatchObject([
    { operation: 'API_DEPLOYED', changes: [{}, { path: '/deploymentStatus', value: 'DEPLOYED' }] },
  ])
  expect(event).toMatchObject({ type: 'API_DEPLOYED', data: { environment: job.environment } })
  expect(others).toEqual([])

  await second.run('wait\n')
  await expect(fetch(`http://127.0.0.1:${receiverPort}/`)).rejects.toThrow('fetch failed')
})
