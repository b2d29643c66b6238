import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createApi, newFolder, uploadImage } from './src/service.ts'

const folder = join(newFolder(), 'data')
const SVG = new Blob(['<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'], {
  type: 'image/svg+xml',
})

/** Paths in the data folder, itself included, that grant other users a right. */
async function openToOthers(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true })
  expect(entries).toEqual(expect.arrayContaining(['events.db', 'read-models.db', 'messages.db', 'images']))
  const modes = await Promise.all(
    ['', ...entries].map(async entry => ({ entry, mode: (await lstat(join(folder, entry))).mode })),
  )
  return modes.flatMap(({ entry, mode }) => (mode & 0o077 ? entry : []))
}

test('other users cannot read the data folder or a file in it, whatever the umask', async () => {
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))
  const service = await startServiceProcess(folder)
  expect((await uploadImage(service, await createApi(service, 'a'), SVG)).status).toBe(200)
  expect(await openToOthers()).toEqual([])
  await service.stop()
  expect(await openToOthers()).toEqual([])
})
