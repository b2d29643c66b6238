import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WrongUsage } from './command.ts'
import { runCommand } from './commands.ts'

let folder: string
let printed: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-operations-'))
  printed = ''
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text, ...rest) => {
      printed += text
      const done = rest.at(-1)
      if (typeof done === 'function') done()
      return true
    })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

const run = (words: string, settings: NodeJS.ProcessEnv = {}) =>
  runCommand(words === '' ? [] : words.split(' '), { DATA_DIR: folder, ...settings })

test.each([
  ['--help', /^usage: .*^ {2}rebuild .*^ {2}quarantine .*^ {2}rotate-keys .*^ {2}events tail /ms],
  ['events --help', /^usage: gantry events (?!.*^ {2}rebuild ).*^ {2}events tail .*^ {2}events export /ms],
  ['rebuild --help', /^usage: npm run rebuild/],
  ['quarantine --help', /^usage: npm run quarantine/],
  ['copy-images --help', /^usage: npm run copy-images/],
  ['rotate-keys --help', /^usage: npm run rotate-keys/],
  ['events tail --help', /^usage: npm run events -- tail/],
])('%s describes the commands and does nothing', async (words, help) => {
  expect(await run(words, { DATA_DIR: join(folder, 'none') })).toBe(0)
  expect(printed).toMatch(help)
})

test.each([
  ['an unknown command', 'rebuilt', /^there is no command "rebuilt"\n.*^ {2}rebuild /ms],
  ['a name that every object has', 'constructor', /^there is no command/],
  ['no command', '', /^usage: .*^ {2}rebuild /ms],
  ['an unknown option', 'rebuild --all', /^Unknown option '--all'.*usage: npm run rebuild \[-- --new\]$/s],
  ['an unknown command of a group', 'events tale', /^there is no command "events tale"\n/],
  ['an argument too many', 'rebuild catalog', /^Unexpected argument 'catalog'.*usage: npm run rebuild/s],
])('%s is answered with the usage', async (_, words, message) => {
  const refused = run(words)
  await expect(refused).rejects.toThrow(WrongUsage)
  await expect(refused).rejects.toThrow(message)
  expect(printed).toBe('')
})

test('copy-images copies what the other store lacks', async () => {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  await Promise.all([from, to].map(path => mkdir(path)))
  for (const key of ['one', 'two']) await writeFile(join(from, key), key)
  const settings = { BLOB_URL: `file:${from}`, READ_MODEL_URL: 'mongodb://127.0.0.1:1/gantry' }
  const copy = async (args: string) => {
    printed = ''
    expect(await run(`copy-images ${args}`, settings)).toBe(0)
    return printed
  }
  expect(await copy(`file:${to}`)).toBe('2 images copied, 0 were there\n')
  expect(await readFile(join(to, 'two'), 'utf8')).toBe('two')
  await writeFile(join(from, 'three'), 'three')
  // A key whose bytes are gone when they are read.
  await symlink(join(folder, 'none'), join(from, 'gone'))
  expect(await copy(`file:${to}`)).toBe('1 images copied, 2 were there, 1 were removed meanwhile\n')
  await rm(join(from, 'gone'))
  expect(await copy(`file:${from} --from file:${to}`)).toBe('0 images copied, 3 were there\n')
  await expect(run(`copy-images file:${to} --from gridfs`, settings)).rejects.toThrow('READ_MODEL_URL')
})
