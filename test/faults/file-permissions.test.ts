import { chmod, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, onTestFinished, test } from 'vitest'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Paths in the folder, itself included, that grant other users a right, with their modes. */
async function openToOthers(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true })
  const modes = await Promise.all(
    ['', ...entries].map(async entry => ({ entry, mode: (await lstat(join(folder, entry))).mode & 0o777 })),
  )
  expect(entries).toContain('events.db')
  return modes.filter(({ mode }) => mode & 0o077).map(({ entry, mode }) => `${entry} ${mode.toString(8)}`)
}

async function withoutUmask(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'gantry-permissions-'))
  const umask = process.umask(0)
  onTestFinished(async () => {
    process.umask(umask)
    await rm(parent, { recursive: true })
  })
  return join(parent, 'data')
}

/** Makes the service write to each of its files. */
async function use(folder: string): Promise<void> {
  const service = await startServiceProcess(folder)
  const { url, authorization } = service
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const created = await post('/apis', { name: 'a', displayName: 'A', status: 'ACTIVE', tags: [] })
  const { id } = (await created.json()) as { id: string }
  const form = new FormData()
  form.set('file', new Blob([PIXEL], { type: 'image/png' }), 'a.png')
  const image = await fetch(`${url}/apis/${id}/image`, {
    method: 'PUT',
    headers: { authorization },
    body: form,
  })
  expect(image.status).toBeLessThan(300)
  expect(await openToOthers(folder)).toEqual([])
  await service.stop()
}

test('other users cannot read the data folder or a file in it, whatever the umask', async () => {
  const folder = await withoutUmask()
  await use(folder)
  expect(await openToOthers(folder)).toEqual([])
})

test('a data folder that other users can read is closed to them at start, with its content', async () => {
  const folder = await withoutUmask()
  await use(folder)
  for (const entry of await readdir(folder, { recursive: true })) await chmod(join(folder, entry), 0o777)
  await mkdir(join(folder, 'images', 'older'))
  await writeFile(join(folder, 'images', 'older', 'image'), PIXEL)
  await chmod(folder, 0o755)
  expect(await openToOthers(folder)).not.toEqual([])
  const service = await startServiceProcess(folder)
  expect(await openToOthers(folder)).toEqual([])
  await service.stop()
})

test('a folder with other files stays as it is, and only the files of the service are closed to other users', async () => {
  const folder = await withoutUmask()
  await mkdir(folder, { mode: 0o755 })
  await writeFile(join(folder, 'notes'), '')
  const service = await startServiceProcess(folder)
  await service.stop()
  expect((await openToOthers(folder)).map(line => line.replace(/ \d+$/, ''))).toEqual(['', 'notes'])
})
