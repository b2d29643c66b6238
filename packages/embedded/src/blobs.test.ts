import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blobStoreContract } from '@gantry/stores/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { folderBlobStore } from './blobs.ts'

const newFolder = () => mkdtemp(join(tmpdir(), 'gantry-blobs-'))

blobStoreContract('a folder', async () => {
  const folder = await newFolder()
  const path = join(folder, 'made', 'when needed')
  return {
    blobs: folderBlobStore({ path }),
    another: async () => folderBlobStore({ path }),
    close: () => rm(folder, { recursive: true }),
  }
})

describe('the folder of a blob store', () => {
  let path: string
  beforeEach(async () => {
    path = await newFolder()
  })
  afterEach(() => rm(path, { recursive: true }))

  it.each(['', '.', '..', '../x', 'a/b', 'a\\b', '/etc/passwd', '.incomplete', 'a\0', 'é', 'x'.repeat(201)])(
    'does not accept the key %j',
    async key => {
      const blobs = folderBlobStore({ path })
      await expect(blobs.put(key, new Uint8Array(1))).rejects.toThrow(RangeError)
      await expect(blobs.get(key)).rejects.toThrow(RangeError)
      await expect(blobs.delete(key)).rejects.toThrow(RangeError)
      expect(await readdir(path)).toEqual([])
    },
  )

  it('has a file with the key as its name, and no incomplete files', async () => {
    const blobs = folderBlobStore({ path })
    await blobs.put('logo.png', Buffer.from('png'))
    expect((await readdir(path)).sort()).toEqual(['.incomplete', 'logo.png'])
    expect(await readdir(join(path, '.incomplete'))).toEqual([])
  })

  it('is cleaned of incomplete files of a process that died, but not of those that another process is writing', async () => {
    const blobs = folderBlobStore({ path })
    await blobs.removeAbandoned()
    await blobs.put('first', Buffer.from('1'))
    const left = join(path, '.incomplete', 'left')
    await writeFile(left, 'half')
    await utimes(left, new Date('2020-01-01'), new Date('2020-01-01'))
    await writeFile(join(path, '.incomplete', 'writing'), 'half')
    await blobs.removeAbandoned()
    expect(await readdir(join(path, '.incomplete'))).toEqual(['writing'])
  })
})
