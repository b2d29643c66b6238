import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import type { BlobStore } from '../blob-store.ts'

/** A store that may contain other blobs, before and during the test. */
export interface OpenedBlobStore {
  blobs: BlobStore
  /** Opens another connection to the same store. Absent when the store has one connection only. */
  another?: () => Promise<BlobStore>
  close(): Promise<void>
}

/** Tests every guarantee of the BlobStore port. Each test uses unique keys, so a shared server can be used. */
export function blobStoreContract(name: string, open: () => Promise<OpenedBlobStore>): void {
  describe(`${name} as a blob store`, () => {
    let opened: OpenedBlobStore
    let blobs: BlobStore
    /** A key that no other test uses. */
    let key: string

    beforeEach(async () => {
      opened = await open()
      blobs = opened.blobs
      key = randomUUID()
    })
    afterEach(() => opened.close())

    const bytesOf = (text: string) => new TextEncoder().encode(text)
    const textOf = async (of: string, from = blobs) => {
      const bytes = await from.get(of)
      return bytes && new TextDecoder().decode(bytes)
    }
    const ownKeys = async () => {
      const keys: string[] = []
      for await (const found of blobs.keys()) if (found.startsWith(key)) keys.push(found)
      return keys.sort()
    }

    it('returns the bytes that were put', async () => {
      const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      await blobs.put(key, everyByte)
      expect([...((await blobs.get(key)) ?? [])]).toEqual([...everyByte])
    })

    it('stores an empty blob and a blob of 5 MiB', async () => {
      const much = new Uint8Array(5 * 1024 * 1024).fill(7, 1_000_000, 4_000_000)
      await blobs.put(`${key}.nothing`, new Uint8Array())
      await blobs.put(`${key}.much`, much)
      expect(await blobs.get(`${key}.nothing`)).toHaveLength(0)
      expect(Buffer.compare((await blobs.get(`${key}.much`)) ?? new Uint8Array(), much)).toBe(0)
    })

    it('stores a view of a buffer without the rest of the buffer', async () => {
      await blobs.put(key, bytesOf('before inside after').subarray(7, 13))
      expect(await textOf(key)).toBe('inside')
    })

    it('returns a range of the bytes, as far as there are some', async () => {
      await blobs.put(key, bytesOf('0123456789'))
      const range = async (from: number, to: number) =>
        new TextDecoder().decode(await blobs.get(key, { from, to }))
      expect([await range(0, 3), await range(3, 10), await range(7, 99)]).toEqual(['012', '3456789', '789'])
      expect(await blobs.get(`${key}.none`, { from: 0, to: 1 })).toBeUndefined()
    })

    it('returns undefined for a key that was not put', async () => {
      expect(await blobs.get(key)).toBeUndefined()
    })

    it('changes nothing when a key is put again', async () => {
      await blobs.put(key, bytesOf('first'))
      await blobs.put(key, bytesOf('second'))
      expect(await textOf(key)).toBe('first')
      expect(await ownKeys()).toEqual([key])
    })

    it('stores a blob once when it is put concurrently', async () => {
      await Promise.all(Array.from({ length: 10 }, () => blobs.put(key, bytesOf('same'))))
      expect(await textOf(key)).toBe('same')
      expect(await ownKeys()).toEqual([key])
    })

    it('deletes a blob, also repeatedly, and can store the key again', async () => {
      await blobs.put(key, bytesOf('first'))
      await blobs.delete(key)
      await blobs.delete(key)
      expect(await blobs.get(key)).toBeUndefined()
      expect(await ownKeys()).toEqual([])
      await blobs.put(key, bytesOf('second'))
      expect(await textOf(key)).toBe('second')
    })

    it('lists its keys', async () => {
      expect(await ownKeys()).toEqual([])
      await blobs.put(`${key}.b-1`, bytesOf('b'))
      await blobs.put(`${key}_a`, bytesOf('a'))
      expect(await ownKeys()).toEqual([`${key}.b-1`, `${key}_a`])
    })

    describe('a draft', () => {
      const pieces = [bytesOf('first '), bytesOf('second'), bytesOf('end')]
      const written = async (from = pieces) => {
        const draft = await blobs.draft()
        for (const piece of from) await draft.write(piece)
        return draft
      }

      it('becomes a blob when it is committed', async () => {
        const draft = await written()
        expect(new TextDecoder().decode(await draft.bytes())).toBe('first secondend')
        expect(await ownKeys()).toEqual([])
        await draft.commit(key)
        await draft.discard()
        expect(await textOf(key)).toBe('first secondend')
        expect(await ownKeys()).toEqual([key])
      })

      it('allows the memory of a written piece to be reused', async () => {
        const piece = Buffer.from('before')
        const draft = await written([piece])
        piece.write('behind')
        await draft.write(piece)
        await draft.commit(key)
        expect(await textOf(key)).toBe('beforebehind')
      })

      it('can be empty, or have 5 MiB', async () => {
        await (await written([])).commit(`${key}.nothing`)
        const piece = Buffer.alloc(65_536, 'x')
        await (await written(Array(80).fill(piece))).commit(`${key}.much`)
        expect(await blobs.get(`${key}.nothing`)).toHaveLength(0)
        expect(await textOf(`${key}.much`)).toBe('x'.repeat(80 * 65_536))
      })

      it('changes nothing when its key exists', async () => {
        await blobs.put(key, bytesOf('put'))
        const draft = await written()
        await draft.commit(key)
        await draft.discard()
        expect(await textOf(key)).toBe('put')
        expect(await ownKeys()).toEqual([key])
      })

      it('becomes one blob when several drafts are committed with the same key concurrently', async () => {
        const drafts = await Promise.all(Array.from({ length: 10 }, () => written()))
        await Promise.all(drafts.map(draft => draft.commit(key)))
        expect(await textOf(key)).toBe('first secondend')
        expect(await ownKeys()).toEqual([key])
      })

      it('leaves no blob when it is discarded, also repeatedly', async () => {
        const draft = await written()
        await draft.discard()
        await draft.discard()
        expect(await ownKeys()).toEqual([])
      })
    })

    it('keeps drafts that are being written when it removes abandoned ones, before and after its first blob', async () => {
      await blobs.removeAbandoned()
      const draft = await blobs.draft()
      await draft.write(bytesOf('written'))
      await blobs.removeAbandoned()
      await draft.commit(key)
      await blobs.removeAbandoned()
      expect(await textOf(key)).toBe('written')
    })

    it('shares its blobs with another connection', async (context: TestContext) => {
      if (!opened.another) return context.skip('this store has one connection')
      const other = await opened.another()
      await blobs.put(key, bytesOf('shared'))
      expect(await textOf(key, other)).toBe('shared')
      await other.delete(key)
      expect(await blobs.get(key)).toBeUndefined()
      await other.close()
    })
  })
}
