import { describe, expect, test } from 'vitest'
import { bounded } from './bounded.ts'

describe('bounded tasks', () => {
  test('start in order, at most `atOnce` at a time, each when another ends', async () => {
    const inTurn = bounded({ atOnce: 2, waiting: 10 })
    const begun: number[] = []
    const ends: (() => void)[] = []
    const tasks = [0, 1, 2, 3].map(number =>
      inTurn(async () => {
        begun.push(number)
        await new Promise<void>(resolve => {
          ends[number] = resolve
        })
        return number
      }),
    )
    const turn = () => new Promise(resolve => setImmediate(resolve))
    await turn()
    expect(begun).toEqual([0, 1])
    ends[1]?.()
    await turn()
    expect(begun).toEqual([0, 1, 2])
    ends[0]?.()
    await turn()
    expect(begun).toEqual([0, 1, 2, 3])
    ends[2]?.()
    ends[3]?.()
    expect(await Promise.all(tasks)).toEqual([0, 1, 2, 3])
  })
  test('are refused while the queue is full, and accepted afterwards', async () => {
    const inTurn = bounded({ atOnce: 1, waiting: 1 })
    const task = async () => 'done'
    const [first, second, third] = await Promise.allSettled([inTurn(task), inTurn(task), inTurn(task)])
    expect([first, second]).toMatchObject([{ value: 'done' }, { value: 'done' }])
    expect(third).toMatchObject({ status: 'rejected', reason: { code: 'too-many-requests' } })
    expect(await inTurn(task)).toBe('done')
  })
  test('that fail let the next one start', async () => {
    const inTurn = bounded({ atOnce: 1, waiting: 0 })
    await expect(inTurn(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await inTurn(async () => 'done')).toBe('done')
  })
})
