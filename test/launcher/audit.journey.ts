import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const PROGRAM = join(import.meta.dirname, '../../bin/audit.mjs')

/** Audits a project with one production package, with a registry that returns this response. */
async function audit(status: number, answer: object) {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-audit-'))
  const about = { name: 'audited', version: '1.0.0', dependencies: { left: '1.0.0' } }
  const packages = { '': about, 'node_modules/left': { version: '1.0.0' } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(about))
  await writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, ...about, packages }),
  )
  const registry = createServer((request, response) => {
    request.resume()
    // npm 10 requests `/audits/quick` after `/advisories/bulk` was refused.
    const requests =
      request.method === 'POST' && /\/(advisories\/bulk|audits\/quick)$/.test(request.url ?? '')
    response.writeHead(requests ? status : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(requests ? answer : {}))
  }).listen(0, '127.0.0.1')
  await once(registry, 'listening')
  onTestFinished(async () => {
    registry.closeAllConnections()
    registry.close()
    await rm(folder, { recursive: true })
  })
  const { port } = registry.address() as { port: number }
  const program = endsWithParent(
    spawn(process.execPath, [PROGRAM], {
      cwd: folder,
      env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  program.stderr.pipe(process.stderr, { end: false })
  const [output, [code]] = await Promise.all([text(program.stdout), once(program, 'exit')])
  return { output, code }
}
const advisory = (severity: string) => ({
  left: [
    {
      id: 1,
      url: 'https://example.org/1',
      title: 'It is wrong',
      severity,
      vulnerable_versions: '<2',
      cwe: [],
    },
  ],
})

test('a project without known vulnerabilities passes', async () => {
  expect(await audit(200, {})).toEqual({
    output: 'npm audit: 0 packages with vulnerabilities of moderate severity or above\n',
    code: 0,
  })
})

test('a vulnerability of moderate severity fails and is named, one of low severity passes', async () => {
  expect(await audit(200, advisory('moderate'))).toEqual({
    output:
      'npm audit: moderate in left: It is wrong\nnpm audit: 1 packages with vulnerabilities of moderate severity or above\n',
    code: 1,
  })
  expect(await audit(200, advisory('low'))).toMatchObject({ code: 0 })
})

test('an unavailable registry is reported, and the project neither passes nor fails', async () => {
  const { output, code } = await audit(405, {})
  expect(output).toMatch(/^npm audit: not available here, no package was checked \(405 Method Not Allowed/)
  expect(code).toBe(0)
})
