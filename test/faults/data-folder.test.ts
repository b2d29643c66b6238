import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openDataFolder, sealDataFolder } from '@gantry/standalone'
import { expect, onTestFinished, test } from 'vitest'
import { newFolder } from './src/service.ts'

const parent = newFolder()
const KEY = Buffer.alloc(32).toString('base64')
const open = (folder: string) => openDataFolder({ DATA_DIR: folder })

/** A folder as a service leaves it, with a file in place of its log. */
function usedFolder() {
  const folder = mkdtempSync(join(parent, 'used-'))
  writeFileSync(join(folder, 'events.db'), 'the log')
  sealDataFolder(open(folder))
  return folder
}
const contents = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')]))

test('a used folder is opened again with its key', () => {
  const folder = usedFolder()
  const before = contents(folder)
  sealDataFolder(open(folder))
  expect(contents(folder)).toEqual(before)
})

test.each<[string, RegExp, [file: string, content?: string]]>([
  ['of a newer version', /gantry\.json .*newer/, ['gantry.json', '{"format":99}']],
  ['with a manifest that is not JSON', /gantry\.json .*damaged/, ['gantry.json', '{']],
  ['without its log', /events\.db .*missing/, ['events.db']],
  ['without its key', /encryption\.key .*missing/, ['encryption.key']],
  [
    'with two keys of one id',
    /encryption\.key is no valid ENCRYPTION_KEY: has two keys with the id 1/,
    ['encryption.key', `1:${KEY},1:${'01'.repeat(32)}`],
  ],
  ['that is being restored', /is being restored; if .* interrupted, run it again/, ['.restoring', '']],
])('a folder %s is refused with one line and not changed', (_, line, [file, content]) => {
  const folder = usedFolder()
  if (content === undefined) rmSync(join(folder, file))
  else writeFileSync(join(folder, file), content)
  const before = contents(folder)
  expect(() => open(folder)).toThrow(line)
  expect(() => open(folder)).not.toThrow(/\n/)
  expect(contents(folder)).toEqual(before)
})

test('a path that is a file, and one that the operating system does not let exist, are refused', () => {
  writeFileSync(join(parent, 'file'), '')
  expect(() => open(join(parent, 'file'))).toThrow(/is not a folder: set DATA_DIR/)
  expect(() => open('/proc/gantry/data')).toThrow(
    '/proc/gantry/data is not writable: set DATA_DIR to a folder that this user may write to',
  )
})

test('a log elsewhere is expected where EVENT_STORE_URL names it', () => {
  const folder = usedFolder()
  const elsewhere = { DATA_DIR: folder, EVENT_STORE_URL: join(parent, 'elsewhere.db') }
  expect(() => openDataFolder(elsewhere)).toThrow(`${elsewhere.EVENT_STORE_URL} is missing`)
})

/** Paths in the folder, itself included, that grant other users a right. */
const openToOthers = (folder: string) =>
  ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].filter(
    entry => lstatSync(join(folder, entry)).mode & 0o077,
  )

test('a folder that other users can read is closed to them, with its content', () => {
  const folder = usedFolder()
  mkdirSync(join(folder, 'images/older'), { recursive: true })
  writeFileSync(join(folder, 'images/older/image'), '')
  const entries = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]
  for (const entry of entries) chmodSync(join(folder, entry), 0o777)
  expect(openToOthers(folder)).toEqual(entries)
  open(folder)
  expect(openToOthers(folder)).toEqual([])
})

test('a folder with other files stays as it is, and only the files of the service are closed to other users', () => {
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))
  const folder = join(parent, 'shared')
  mkdirSync(folder, { mode: 0o755 })
  for (const name of ['notes', 'events.db']) writeFileSync(join(folder, name), '')
  open(folder)
  expect(openToOthers(folder)).toEqual(['', 'notes'])
  expect(readdirSync(folder)).toContain('encryption.key')
})
