import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportFile } from './audit/export-file.ts'
import { CommandFailed } from './command.ts'
import { FEED_LINES } from './events/feed.ts'
import { resumableFile } from './resumable-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-resumable-'))
})
afterAll(() => rm(folder, { recursive: true }))

const own = { isOwn: (line: string) => /^\{[^:]+$/.test(line), beginning: '{' }
const long = `{${'x'.repeat(1_500_000)}`

test.for<[string, string, string | undefined, string]>([
  ['an empty file', '', undefined, ''],
  ['a complete file', '{1\n{2\n', '{2', '{1\n{2\n'],
  ['an incomplete last line', '{1\n{2\n{3', '{2', '{1\n{2\n'],
  ['an incomplete first line', '{1', undefined, ''],
  ['lines of more than one block', `${long}\n${long}\n{3`, long, `${long}\n${long}\n`],
])('%s is continued after its last complete line', async ([title, content, lastLine, kept]) => {
  const path = join(folder, title)
  await writeFile(path, content)
  const file = await resumableFile(path, own)
  expect(file.lastLine).toBe(lastLine)
  await file.append(['{a', '{b'])
  await file.close()
  expect(await readFile(path, 'utf8')).toBe(`${kept}{a\n{b\n`)
})

test.each(['notes\nand more', 'notes\n', 'notes', '\n', 'notes\n{1', '{1\n{"a": 1}\n'])(
  'a file with %j is not changed',
  async content => {
    const path = join(folder, 'other')
    await writeFile(path, content)
    await expect(resumableFile(path, own)).rejects.toThrow(CommandFailed)
    expect(await readFile(path, 'utf8')).toBe(content)
  },
)

test('a file of documents that are no events of the feed is not continued as one', async () => {
  const path = join(folder, 'documents')
  for (const content of ['{"id":"a"}\n', '{"id":"a"}\n{"id":', '{"position":"1"}\n']) {
    await writeFile(path, content)
    await expect(resumableFile(path, FEED_LINES)).rejects.toThrow(CommandFailed)
    expect(await readFile(path, 'utf8')).toBe(content)
  }
})

test.skipIf(process.platform === 'win32')(
  'a file that cannot be changed is refused with the reason',
  async () => {
    for (const open of [() => resumableFile('/dev/full', own), () => exportFile('/dev/full', 'ndjson')]) {
      const refusal = open()
      await expect(refusal).rejects.toThrow(/^cannot write \/dev\/full: EINVAL/)
      await expect(refusal).rejects.toThrow(CommandFailed)
    }
  },
)
