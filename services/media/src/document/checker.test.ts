import { readdir, readFile } from 'node:fs/promises'
import { constants, getPriority } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { documentChecker } from './checker.ts'

describe('a checker', () => {
  const limits = {
    timeMs: 1_500,
    lastsMs: 60_000,
    heapMiB: 64,
    waiting: 1,
    idleMs: 20,
  }
  const document = (content: string) => ({ size: content.length, read: async () => Buffer.from(content) })

  test('ends a check that exceeds its time or its memory, and checks the next document', async () => {
    const checker = documentChecker(undefined, limits)
    // Its schema is checked against every one of its own parts.
    const slow = `{"openapi":"3.0.0","paths":{${Array.from({ length: 400_000 }, (_, n) => `"/${n}":{"get":1}`)}}}`
    await expect(checker.check(document(slow))).rejects.toMatchObject({
      errors: [{ message: expect.stringMatching(/takes longer than 1.5 s|more than 64 MiB/) }],
    })
    expect((await checker.check(document('# Title'))).kind).toBe('markdown')
    await checker.stop()
  })

  test('refuses what has waited for too long', async () => {
    const checker = documentChecker(undefined, limits)
    const held = Promise.withResolvers<Buffer>()
    const first = checker.check({ size: 3, read: () => held.promise })
    const late = checker.check({ ...document('# Title'), lastsMs: limits.timeMs })
    await expect(late).rejects.toMatchObject({ code: 'too-many-checks' })
    held.resolve(Buffer.from('# A'))
    expect((await first).kind).toBe('markdown')
    await checker.stop()
  })

  test('finishes a check that has lasted too long for its caller, so that a busy machine makes progress', async () => {
    let threads = 0
    const started = () => void threads++
    process.on('worker', started)
    onTestFinished(() => void process.off('worker', started))
    const checker = documentChecker(undefined, { ...limits, idleMs: 60_000 })
    const late = checker.check({ ...document('# Title'), lastsMs: 0 })
    await expect(late).rejects.toMatchObject({ code: 'too-many-checks' })
    expect((await checker.check(document('# Title'))).kind).toBe('markdown')
    expect(threads).toBe(1)
    await checker.stop()
  })

  test.skipIf(process.platform !== 'linux')('checks at a lower priority than that of requests', async () => {
    const ofThreads = async () =>
      new Map(
        await Promise.all(
          (await readdir('/proc/self/task')).map(async (id): Promise<[string, number]> => {
            const stat = await readFile(`/proc/self/task/${id}/stat`, 'utf8')
            return [id, Number(stat.replace(/^.*\) /, '').split(' ')[16])]
          }),
        ),
      )
    const [own, before] = [getPriority(), await ofThreads()]
    const checker = documentChecker(undefined, { ...limits, idleMs: 60_000 })
    await checker.check(document('# Title'))
    const added = [...(await ofThreads())].filter(([id]) => !before.has(id)).map(([, priority]) => priority)
    expect(Math.max(...added)).toBeGreaterThanOrEqual(constants.priority.PRIORITY_BELOW_NORMAL)
    expect(getPriority()).toBe(own)
    await checker.stop()
  })

  test('checks small documents before large ones that wait', async () => {
    const checker = documentChecker(undefined, { ...limits, waiting: 2 })
    const held = Promise.withResolvers<Buffer>()
    const read: number[] = []
    const check = (size: number, content: Promise<Buffer> | Buffer) =>
      checker.check({
        size,
        async read() {
          read.push(size)
          return content
        },
      })
    const all = [check(3, held.promise), check(20_000_000, Buffer.from('# B')), check(4, Buffer.from('# C'))]
    held.resolve(Buffer.from('# A'))
    await Promise.all(all)
    expect(read).toEqual([3, 4, 20_000_000])
    await checker.stop()
  })

  test('ends a comparison that exceeds its limits, and compares the next documents', async () => {
    const checker = documentChecker(undefined, limits)
    const stored = (kind: 'openapi' | 'markdown', content: string) => ({ kind, ...document(content) })
    const openapi = (method: string) =>
      stored(
        'openapi',
        `{"openapi":"3.0.0","paths":{${Array.from({ length: 400_000 }, (_, n) => `"/${n}":{"${method}":{}}`)}}}`,
      )
    await expect(checker.compare(openapi('get'), openapi('put'))).rejects.toMatchObject({
      errors: [{ message: expect.stringMatching(/the comparison of the documents (takes|needs)/) }],
    })
    const diff = await checker.compare(stored('markdown', '# A'), stored('markdown', '# B'))
    expect(diff.breaking).toBe(null)
    await checker.stop()
  })

  test('refuses what cannot wait', async () => {
    const checker = documentChecker(undefined, limits)
    const all = await Promise.allSettled(Array.from({ length: 3 }, () => checker.check(document('# Title'))))
    expect(all.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(all.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'too-many-checks' },
    })
    await checker.stop()
  })
})
