import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MAIN = join(import.meta.dirname, 'main.ts')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-operations-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs a program on an empty data folder. */
const run = (program: string, ...args: string[]) => runIn({}, program, ...args)
const runIn = (settings: NodeJS.ProcessEnv, program: string, ...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>(resolve => {
    const { MESSAGING_URL: _, ...environment } = process.env
    const env = { ...environment, DATA_DIR: folder, ...settings }
    execFile(process.execPath, [program, ...args], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 128) : 0, stdout, stderr }),
    )
  })

test('--help lists the commands', async () => {
  const { code, stdout } = await run(MAIN, '--help')
  expect(stdout).toMatch(/^usage: .*^ {2}rebuild .*^ {2}quarantine .*^ {2}rotate-keys .*^ {2}events tail /ms)
  expect(code).toBe(0)
})

test('the help of a group lists its commands alone', async () => {
  const { code, stdout } = await run(MAIN, 'events', '--help')
  expect(stdout).toMatch(
    /^usage: gantry events .*^ {2}events tail .*^ {2}events export .*^ {2}events replay /ms,
  )
  expect(stdout).not.toContain('  rebuild ')
  expect(code).toBe(0)
})

test.each([
  ['an unknown command', ['rebuilt'], /^gantry rebuilt: there is no command "rebuilt"\n.*^ {2}rebuild /ms],
  ['a name that every object has', ['constructor'], /^gantry constructor: there is no command/],
  ['no command', [], /^gantry: usage: .*^ {2}rebuild /ms],
  ['an unknown option', ['rebuild', '--all'], /^gantry rebuild: usage: npm run rebuild \[-- --new\]\n$/],
  [
    'an unknown command of a group',
    ['events', 'tale'],
    /^gantry events: there is no command "events tale"\n/,
  ],
  ['an argument too many', ['rebuild', 'catalog'], /^gantry rebuild: usage: npm run rebuild \[-- --new\]\n$/],
])('%s is answered with the usage and exit code 2', async (_, args, message) => {
  const { code, stdout, stderr } = await run(MAIN, ...args)
  expect([stdout, stderr]).toEqual(['', expect.stringMatching(message)])
  expect(code).toBe(2)
})

test.each(['rebuild', 'quarantine', 'copy-images', 'rotate-keys', 'events tail'])(
  '%s --help describes the command and does nothing',
  async name => {
    const { code, stdout } = await run(MAIN, ...name.split(' '), '--help')
    expect(stdout).toMatch(new RegExp(`^usage: npm run ${name.replace(' ', ' -- ')}`))
    expect(code).toBe(0)
    expect(await readdir(folder)).toEqual([])
  },
)

test('copy-images copies what the other store lacks', async () => {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  await Promise.all([from, to].map(path => mkdir(path)))
  for (const key of ['one', 'two']) await writeFile(join(from, key), key)
  const environment = { BLOB_URL: `file:${from}`, READ_MODEL_URL: 'mongodb://127.0.0.1:1/gantry' }
  const copy = (...args: string[]) => runIn(environment, MAIN, 'copy-images', ...args)
  expect(await copy(`file:${to}`)).toMatchObject({ code: 0, stderr: '2 images copied, 0 were there\n' })
  expect(await readFile(join(to, 'two'), 'utf8')).toBe('two')
  await writeFile(join(from, 'three'), 'three')
  // A key whose bytes are gone when they are read.
  await symlink(join(folder, 'none'), join(from, 'gone'))
  const third = await copy(`file:${to}`)
  expect(third).toMatchObject({
    code: 0,
    stderr: '1 images copied, 2 were there, 1 were removed meanwhile\n',
  })
  await rm(join(from, 'gone'))
  const back = await copy(`file:${from}`, '--from', `file:${to}`)
  expect(back).toMatchObject({ code: 0, stderr: '0 images copied, 3 were there\n' })
  const gridFs = await copy(`file:${to}`, '--from', 'gridfs')
  expect(gridFs).toMatchObject({ code: 1, stderr: expect.stringContaining('READ_MODEL_URL') })
})

test.each(['rebuild', 'rotate-keys'])('the former path of %s starts the same command', async name => {
  const former = join(import.meta.dirname, `../../../services/standalone/src/${name}.ts`)
  expect(await run(former, '--help')).toEqual(await run(MAIN, name, '--help'))
})
