import { type Log, OperatorNeeded, supervise } from '@gantry/event-sourcing'
import { expect, onTestFinished, test, vi } from 'vitest'

test('a worker that needs an operator is not restarted and logs this once', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lines: string[] = []
  const note = (_: object, line: string) => void lines.push(line)
  const log: Log = { info: note, warn: note, error: note }
  let starts = 0
  const worker = supervise('test', log, async () => {
    starts++
    throw new OperatorNeeded('read the manual')
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(worker.waitsFor).toBe('an operator: read the manual')
  expect({ starts, lines }).toEqual({
    starts: 1,
    lines: ['has stopped and waits for an operator: read the manual'],
  })
  await worker.stop()
})
