import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { ROOT } from './src/files.ts'
import { type Processes, startProcesses } from './src/processes.ts'
import { metricsIn, queries, records } from './src/queries.ts'
import { PROCESSES } from './src/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'gantry-processes-'))
let processes: Processes
beforeAll(async () => {
  processes = await startProcesses(folder)
})
afterAll(async () => {
  await processes.stop()
  rmSync(folder, { recursive: true, force: true })
})

const send = (path: string, init: RequestInit = {}) =>
  fetch(`${processes.urls.gateway}${path}`, {
    ...init,
    headers: { authorization: processes.authorization, 'content-type': 'application/json' },
  })

/** Runs a command with the settings of the services. */
async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const program = join(ROOT, 'services/operations/src/main.ts')
  const child = endsWithParent(spawn(process.execPath, [program, ...args], { env: processes.environment }))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

/** Deletes all documents of a collection. */
function forget(path: string, collection: string): void {
  const database = new DatabaseSync(path)
  const { number } = database.prepare('SELECT number FROM collections WHERE name = ?').get(collection) ?? {}
  const { changes } = database.prepare(`DELETE FROM documents_${number}`).run()
  database.close()
  if (changes === 0) throw new Error(`there was nothing in ${collection}`)
}

test('alerts, the dashboard and the scaler use metrics that the processes export, and only at the internal port', async () => {
  const names = new Set(records.map(({ record }) => record))
  const labels = new Map<string, Set<string>>()
  for (const name of PROCESSES) {
    const answer = await fetch(`${processes.internalUrls[name]}/metrics`)
    expect([name, answer.status]).toEqual([name, 200])
    expect((await fetch(`${processes.urls[name]}/metrics`)).status).toBe(404)
    const text = await answer.text()
    for (const [, metric = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
      for (const part of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(metric + part)
    for (const [, label = '', value = ''] of text.matchAll(/(\w+)="([^"]*)"/g))
      labels.set(label, (labels.get(label) ?? new Set()).add(value))
  }
  const unknown = queries.map(([what, query]) => [what, metricsIn(query).filter(name => !names.has(name))])
  expect(unknown.filter(([, missing]) => missing?.length !== 0)).toEqual([])
  for (const [what, query] of queries) expect([what, metricsIn(query)]).not.toEqual([what, []])
  expect([...(labels.get('process') ?? [])].toSorted()).toEqual(PROCESSES.toSorted())
  const stores = ['EVENT_STORE_URL', 'MESSAGING_URL', 'READ_MODEL_URL']
  expect([...(labels.get('setting') ?? [])].toSorted()).toEqual(stores)
})

test('the command makes running services rebuild lost documents', async () => {
  const body = JSON.stringify({ name: 'weather', displayName: 'Weather', status: 'ACTIVE', tags: [] })
  const created = await send('/apis', { method: 'POST', body })
  expect(created.status).toBe(201)
  const location = created.headers.get('location') ?? ''
  const before = await (await send(location)).json()

  forget(join(folder, 'read-models.db'), 'catalog.apis')
  expect((await send(location)).status).toBe(404)
  const { code, output } = await run('rebuild')
  for (const name of [
    'catalog.projector',
    'identity.projector',
    'identity.audit',
    'media.projector',
    'notifier.projector',
  ])
    expect(output).toMatch(new RegExp(`^${name}: done after`, 'm'))
  expect([code, output]).toEqual([0, expect.stringMatching(/All read models are rebuilt\n$/)])
  await vi.waitFor(async () => expect((await send(location)).status).toBe(200))
  expect(await (await send(location)).json()).toEqual(before)
})

test('what is newer than a restored log is named, dropped when the services are stopped, and made again', async () => {
  const apis = async () => (await (await send('/apis')).json()) as { content: { name: string }[] }
  expect(await run('restore-check')).toEqual({
    code: 0,
    output: expect.stringMatching(/documents fit to the log\n$/),
  })
  expect(await run('reset', '--yes')).toEqual({
    code: 1,
    output: expect.stringMatching(
      /still running: catalog, identity, media, notifier; stop all services; nothing was changed\n$/,
    ),
  })
  expect((await apis()).content).toHaveLength(1)
  const { position } = (await (await send('/events')).json()) as { position: string }

  await processes.stop()
  const log = new DatabaseSync(join(folder, 'events.db'))
  log.exec(
    "DELETE FROM events WHERE position >= (SELECT min(position) FROM events WHERE stream LIKE 'api-%')",
  )
  log.close()
  const check = await run('restore-check')
  expect(check.output).toMatch(
    /^the read models of catalog\.projector are at position \d+, after the end of the log$/m,
  )
  expect(check.output).toMatch(/^catalog\.relay is at position \d+, after the end of the log$/m)
  expect(check.output).toMatch(
    /^message \d+ of the bus \(events\.catalog\.API_CREATED\) is about .* after the end/m,
  )
  expect(check.code).toBe(1)
  expect((await run('reset', '--yes')).code).toBe(0)

  processes = await startProcesses(folder)
  expect((await apis()).content).toEqual([])
  const continued = await send(`/events?after=${position}`)
  expect([continued.status, await continued.json()]).toMatchObject([409, { code: 'log-replaced' }])
})
