import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandFailed } from './command.ts'
import { resumableFile } from './resumable-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-resumable-'))
})
afterAll(() => rm(folder, { recursive: true }))

const isOwn = (line: string) => line.startsWith('{')
const long = `{${'x'.repeat(200_000)}`

test.for<[string, string, string | undefined, string]>([
  ['an empty file', '', undefined, ''],
  ['a complete file', '{1\n{2\n', '{2', '{1\n{2\n'],
  ['an incomplete last line', '{1\n{2\n{3', '{2', '{1\n{2\n'],
  ['an incomplete first line', '{1', undefined, ''],
  ['lines of more than one block', `${long}\n${long}\n{3`, long, `${long}\n${long}\n`],
])('%s is continued after its last complete line', async ([title, content, lastLine, kept]) => {
  const path = join(folder, title)
  await writeFile(path, content)
  const file = await resumableFile(path, isOwn)
  expect(file.lastLine).toBe(lastLine)
  await file.append(['{a', '{b'])
  await file.close()
  expect(await readFile(path, 'utf8')).toBe(`${kept}{a\n{b\n`)
})

test.each(['notes\nand more', 'notes\n', 'notes', '\n'])('a file with %j is not changed', async content => {
  const path = join(folder, 'other')
  await writeFile(path, content)
  await expect(resumableFile(path, isOwn)).rejects.toThrow(CommandFailed)
  expect(await readFile(path, 'utf8')).toBe(content)
})
