import { beforeEach, expect, test } from 'vitest'
import { blobsIn } from '../testing/blobs.ts'
import { type StoredBytes, storedBytes } from './bytes.ts'

const A = 'a1'.repeat(32)
const going = async () => true
const nothing = new Set<string>()

let blobs: Map<string, Uint8Array>
let bytes: StoredBytes
/** An action that another process takes just after a call on the store, once. */
let meanwhile: { after: string; happens: () => Promise<void> } | undefined

const reach = async (call: string) => {
  if (meanwhile?.after !== call) return
  const { happens } = meanwhile
  meanwhile = undefined
  await happens()
}
beforeEach(async () => {
  blobs = new Map()
  bytes = storedBytes(blobsIn(blobs, reach))
  await bytes.put(A, Buffer.from('a'))
})
const read = async (sha256: string) => (await bytes.get(sha256)).toString()

test('referenced bytes stay', async () => {
  await bytes.sweep(new Set([A]), going)
  await bytes.sweep(new Set([A]), going)
  expect([...blobs.keys()]).toEqual([A])
})

test('unreferenced bytes are removed by the second sweep, not by the first', async () => {
  await bytes.sweep(nothing, going)
  expect(await read(A)).toBe('a')
  await bytes.sweep(nothing, going)
  expect(blobs.size).toBe(0)
  await expect(bytes.get(A)).rejects.toThrow('lost')
})

test('an upload that references its bytes after a sweep keeps them', async () => {
  await bytes.sweep(nothing, going)
  await bytes.sweep(new Set([A]), going)
  await bytes.sweep(new Set([A]), going)
  expect([...blobs.keys()]).toEqual([A])
  expect(await read(A)).toBe('a')
})

test('bytes that are uploaded again between two sweeps stay', async () => {
  await bytes.sweep(nothing, going)
  await bytes.put(A, Buffer.from('a'))
  await bytes.sweep(new Set([A]), going)
  expect([...blobs.keys()]).toEqual([A])
})

test.for(['keys', `get ${A}`, `put aside-${A}`, `delete ${A}`])(
  'bytes that are uploaded again during a sweep, after its %s, are there afterwards',
  async after => {
    meanwhile = { after, happens: () => bytes.put(A, Buffer.from('a')) }
    await bytes.sweep(nothing, going)
    expect(await read(A)).toBe('a')
    await bytes.sweep(new Set([A]), going)
    expect(await read(A)).toBe('a')
    expect([...blobs.keys()]).toEqual([A])
  },
)

test.for([`delete aside-${A}`, 'keys'])(
  'bytes that are uploaded again during the second sweep, after its %s, are there afterwards',
  async after => {
    await bytes.sweep(nothing, going)
    meanwhile = { after, happens: () => bytes.put(A, Buffer.from('a')) }
    await bytes.sweep(nothing, going)
    expect(await read(A)).toBe('a')
  },
)

test.for(['keys', `get ${A}`, `put aside-${A}`, `delete ${A}`])(
  'bytes are there for readers throughout a sweep, also after its %s',
  async after => {
    let found: string | undefined
    meanwhile = {
      after,
      async happens() {
        found = await read(A)
      },
    }
    await bytes.sweep(nothing, going)
    expect(found).toBe('a')
  },
)

test('a reader finds bytes that a sweep moves back during the read', async () => {
  await bytes.sweep(nothing, going)
  meanwhile = { after: `get ${A}`, happens: () => bytes.sweep(new Set([A]), going) }
  expect(await read(A)).toBe('a')
})

test('a sweep does not touch keys that are not of images', async () => {
  blobs.set('notes.txt', Buffer.from('mine'))
  await bytes.sweep(nothing, going)
  await bytes.sweep(nothing, going)
  expect([...blobs.keys()]).toEqual(['notes.txt'])
})
